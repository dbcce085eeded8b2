/* `spmm_plain.c` with two rows in one loop as long as both have entries, and without prefetches. */
#include <stdint.h>

#ifndef F
#error "compile with -DF=<number of features>"
#endif
typedef float vector __attribute__((vector_size(64), aligned(4), may_alias)); /* F: a multiple of 16 */
#define VECTORS (F / 16 < 8 ? F / 16 : 8)

static inline __attribute__((always_inline)) void add(vector* sum, float a, const float* row) {
#pragma GCC unroll 8
  for (int v = 0; v < VECTORS; ++v) sum[v] += a * ((const vector*)row)[v];
}

void spmm(int64_t m, int64_t nnz, const int32_t* restrict indptr, const int32_t* restrict indices,
          const float* restrict data, const float* restrict x, float* restrict y) {
#pragma omp parallel for schedule(dynamic, 64)
  for (int64_t i = 0; i < m; i += 2) {
    const int is_pair = i + 1 < m;
    for (int first = 0; first < F; first += 16 * VECTORS) {
      vector one[VECTORS] = {0}, two[VECTORS] = {0};
      int64_t p = indptr[i], q = indptr[i + 1];
      const int64_t p_end = q, q_end = is_pair ? indptr[i + 2] : q;
      for (; p < p_end && q < q_end; ++p, ++q) {
        add(one, data[p], x + (int64_t)indices[p] * F + first);
        add(two, data[q], x + (int64_t)indices[q] * F + first);
      }
      for (; p < p_end; ++p) add(one, data[p], x + (int64_t)indices[p] * F + first);
      for (; q < q_end; ++q) add(two, data[q], x + (int64_t)indices[q] * F + first);
#pragma GCC unroll 8
      for (int v = 0; v < VECTORS; ++v) ((vector*)(y + i * F + first))[v] = one[v];
      if (is_pair)
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; ++v) ((vector*)(y + (i + 1) * F + first))[v] = two[v];
    }
  }
}
