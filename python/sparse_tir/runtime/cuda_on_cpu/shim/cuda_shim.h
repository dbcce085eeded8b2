// The CUDA C that TVM emits, as C++ for the CPU: qualifiers, built-in variables, vector types, warp shuffles, atomics.
//
// Limits: no dynamic shared memory, no textures, no asynchronous copies, no inline PTX. All lanes of a warp that have
// not returned must reach a shuffle, a vote or __syncwarp together; its mask is not looked at.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulator.h"

// ---- qualifiers and built-in variables
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ \
  static __attribute__((section("emulator_shared")))  // blocks run one after another: one copy is enough
#define threadIdx (emulator::current->thread)
#define blockIdx (emulator::block_index)
#define blockDim (emulator::block_extent)
#define gridDim (emulator::grid_extent)
#define warpSize (emulator::kWarpSize)

static inline void __syncthreads() { emulator::SyncBlock(); }
static inline void __syncwarp(unsigned = ~0u) { emulator::SyncWarp(); }
static inline unsigned __activemask() { return emulator::ActiveMask(); }

// ---- scalar functions
template <class A, class B>
static inline std::common_type_t<A, B> max(A a, B b) {
  return a > b ? a : b;
}
template <class A, class B>
static inline std::common_type_t<A, B> min(A a, B b) {
  return a < b ? a : b;
}
#define __expf expf  // macros: the C library declares functions of these names
#define __logf logf
static inline float __fdividef(float a, float b) { return a / b; }
template <class T>
static inline T __ldg(const T* address) {
  return *address;
}

// ---- vector types, aligned as CUDA aligns them
#define EMULATOR_VECTOR(T, Name)                                                     \
  struct Name##1 { T x; };                                                           \
  struct alignas(2 * sizeof(T)) Name##2 { T x, y; };                                 \
  struct Name##3 { T x, y, z; };                                                     \
  struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) Name##4 { T x, y, z, w; }; \
  static inline Name##2 make_##Name##2(T x, T y) { return {x, y}; }                  \
  static inline Name##3 make_##Name##3(T x, T y, T z) { return {x, y, z}; }          \
  static inline Name##4 make_##Name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EMULATOR_VECTOR(float, float)
EMULATOR_VECTOR(double, double)
EMULATOR_VECTOR(int, int)
EMULATOR_VECTOR(unsigned int, uint)
EMULATOR_VECTOR(long long, longlong)
EMULATOR_VECTOR(signed char, char)
EMULATOR_VECTOR(unsigned char, uchar)
EMULATOR_VECTOR(short, short)

// ---- warp shuffles. `source` is relative to the caller's segment of `width` lanes; outside of it the own value
// returns, as on a device. What a lane that has returned would give is undefined there; here it is all ones, a NaN.
template <class T>
static T emulator_shuffle(T value, int source, int width) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  int lane = emulator::current->lane, from = lane / width * width + source;
  memcpy(emulator::Slot(lane), &value, sizeof(T));
  unsigned present = emulator::ActiveMask();
  emulator::SyncWarp();
  if (source >= 0 && source < width) {
    if (present >> from & 1)
      memcpy(&value, emulator::Slot(from), sizeof(T));
    else
      memset(&value, 0xff, sizeof(T));
  }
  emulator::SyncWarp();  // nobody writes its slot again before all have read
  return value;
}
static inline int emulator_segment_lane(int width) { return emulator::current->lane % width; }
template <class T>
static T __shfl_sync(unsigned, T v, int lane, int w = 32) {
  return emulator_shuffle(v, lane & (w - 1), w);
}
template <class T>
static T __shfl_down_sync(unsigned, T v, int d, int w = 32) {
  return emulator_shuffle(v, emulator_segment_lane(w) + d, w);
}
template <class T>
static T __shfl_up_sync(unsigned, T v, int d, int w = 32) {
  return emulator_shuffle(v, emulator_segment_lane(w) - d, w);
}
template <class T>
static T __shfl_xor_sync(unsigned, T v, int m, int w = 32) {
  return emulator_shuffle(v, emulator_segment_lane(w) ^ m, w);
}

// ---- votes
static unsigned __ballot_sync(unsigned, int predicate) {
  *emulator::Slot(emulator::current->lane) = predicate != 0;
  unsigned present = emulator::ActiveMask(), votes = 0;
  emulator::SyncWarp();
  for (int lane = 0; lane < emulator::kWarpSize; ++lane) {
    if (present >> lane & 1) votes |= unsigned(*emulator::Slot(lane)) << lane;
  }
  emulator::SyncWarp();
  return votes;
}
static inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
static inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }

// ---- atomics: a fiber is never interrupted, so plain updates are atomic
template <class T, class V>
static T atomicAdd(T* address, V value) {
  T old = *address;
  *address = old + T(value);
  return old;
}
template <class T, class V>
static T atomicMax(T* address, V value) {
  T old = *address;
  if (T(value) > old) *address = T(value);
  return old;
}
template <class T, class V>
static T atomicMin(T* address, V value) {
  T old = *address;
  if (T(value) < old) *address = T(value);
  return old;
}
template <class T, class V>
static T atomicExch(T* address, V value) {
  T old = *address;
  *address = T(value);
  return old;
}
template <class T, class C, class V>
static T atomicCAS(T* address, C compare, V value) {
  T old = *address;
  if (old == T(compare)) *address = T(value);
  return old;
}

// From here on alignas may follow `static`, as in the emitted `__shared__ alignas(64) float x[64]`.
#define alignas(n) __attribute__((aligned(n)))
