/* The bound: CSR SpMM as one would write it by hand for one width (F, a compile-time constant).

   The sums of up to WIDEST features of a row stay in vector registers; the rows of X are fetched AHEAD entries
   early. Rows are dealt out in chunks. */
#include <stdint.h>

#ifndef F
#error "compile with -DF=<number of features>"
#endif
#define AHEAD 16
#define LINE 16  /* floats */
#define WIDEST 128
#define PASS (F < WIDEST ? F : WIDEST)

void spmm(int64_t m, int64_t nnz, const int32_t* restrict indptr, const int32_t* restrict indices,
          const float* restrict data, const float* restrict x, float* restrict y) {
#pragma omp parallel for schedule(dynamic, 64)
  for (int64_t i = 0; i < m; ++i) {
    for (int first = 0; first < F; first += PASS) {
      const int width = F - first < PASS ? F - first : PASS;
      float sum[PASS] = {0};
      for (int64_t p = indptr[i]; p < indptr[i + 1]; ++p) {
        const int64_t ahead = p + AHEAD < nnz ? p + AHEAD : nnz - 1;
        const float* next = x + (int64_t)indices[ahead] * F + first;
        for (int k = 0; k < width; k += LINE) __builtin_prefetch(next + k);
        const float* row = x + (int64_t)indices[p] * F + first;
        const float a = data[p];
        for (int k = 0; k < width; ++k) sum[k] += a * row[k];
      }
      for (int k = 0; k < width; ++k) y[i * F + first + k] = sum[k];
    }
  }
}
