// Half precision, as far as emitted kernels use it. Needs a compiler that knows _Float16 (g++ 12).
#pragma once
#include "cuda_shim.h"

typedef _Float16 half;
typedef half __half;
struct __attribute__((aligned(4))) half2 {  // half4 comes with the emitted source
  half x, y;
};
typedef half2 __half2;
static inline half __float2half(float f) { return (half)f; }
static inline half __float2half_rn(float f) { return (half)f; }
static inline float __half2float(half h) { return (float)h; }
static inline bool __hgt(half a, half b) { return a > b; }
static inline bool __hlt(half a, half b) { return a < b; }
