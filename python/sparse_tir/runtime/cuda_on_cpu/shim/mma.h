// Tensor cores, as nvcuda::wmma in tiles of 16 by 16 by 16. Every thread of the warp keeps the whole tile: redundant,
// but the result is the same.
#pragma once
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

constexpr int kTile = 16;

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static_assert(M == kTile && N == kTile && K == kTile, "only tiles of 16 by 16 by 16");
  T tile[kTile][kTile];
};

template <class Fragment, class V>
void fill_fragment(Fragment& f, V value) {
  for (auto& row : f.tile) {
    for (auto& element : row) element = value;
  }
}

template <class Use, class T, class Layout>
void load_matrix_sync(fragment<Use, kTile, kTile, kTile, T, Layout>& f, const T* from, unsigned stride) {
  constexpr bool is_col_major = std::is_same<Layout, col_major>::value;
  __syncwarp();
  for (int i = 0; i < kTile; ++i) {
    for (int j = 0; j < kTile; ++j) f.tile[i][j] = is_col_major ? from[j * stride + i] : from[i * stride + j];
  }
  __syncwarp();
}

template <class D, class A, class B, class C>
void mma_sync(D& d, const A& a, const B& b, const C& c) {
  D sum = c;
  for (int i = 0; i < kTile; ++i) {
    for (int j = 0; j < kTile; ++j) {
      for (int k = 0; k < kTile; ++k) sum.tile[i][j] += (float)a.tile[i][k] * (float)b.tile[k][j];
    }
  }
  d = sum;
}

template <class Fragment, class T>
void store_matrix_sync(T* to, const Fragment& f, unsigned stride, layout_t layout) {
  __syncwarp();
  for (int i = 0; i < kTile; ++i) {
    for (int j = 0; j < kTile; ++j) to[layout == mem_row_major ? i * stride + j : j * stride + i] = f.tile[i][j];
  }
  __syncwarp();
}
}  // namespace wmma
}  // namespace nvcuda
