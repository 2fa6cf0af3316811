/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BLAS of one function, with Fortran's name and C's. It prints on standard
 * error that it was called, and reports wrong arguments as xerbla would.
 */
#include <stdio.h>

void sgemm_(const char *transpose_a, const char *transpose_b, const int *m,
            const int *n, const int *k, const float *alpha, const float *a,
            const int *lda, const float *b, const int *ldb, const float *beta,
            float *c, const int *ldc);
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n,
                 int k, float alpha, const float *a, int lda, const float *b,
                 int ldb, float beta, float *c, int ldc);

static void multiply(char transpose_a, char transpose_b, int m, int n, int k,
                     float alpha, const float *a, int lda, const float *b,
                     int ldb, float beta, float *c, int ldc)
{
    if (lda < 1 || ldb < 1 || ldc < 1) {
        fprintf(stderr, "blas: xerbla\n");
        return;
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0;

            for (int l = 0; l < k; l++)
                sum += (transpose_a == 'N' ? a[i + l * lda] : a[l + i * lda]) *
                       (transpose_b == 'N' ? b[l + j * ldb] : b[j + l * ldb]);
            c[i + j * ldc] = alpha * sum + beta * c[i + j * ldc];
        }
    }
}

void sgemm_(const char *transpose_a, const char *transpose_b, const int *m,
            const int *n, const int *k, const float *alpha, const float *a,
            const int *lda, const float *b, const int *ldb, const float *beta,
            float *c, const int *ldc)
{
    fprintf(stderr, "blas: sgemm_\n");
    multiply(*transpose_a, *transpose_b, *m, *n, *k, *alpha, a, *lda, b, *ldb,
             *beta, c, *ldc);
}

void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n,
                 int k, float alpha, const float *a, int lda, const float *b,
                 int ldb, float beta, float *c, int ldc)
{
    char letter_a = transpose_a == 111 ? 'N' : 'T';
    char letter_b = transpose_b == 111 ? 'N' : 'T';

    fprintf(stderr, "blas: cblas_sgemm\n");
    if (order == 101)
        multiply(letter_b, letter_a, n, m, k, alpha, b, ldb, a, lda, beta, c,
                 ldc);
    else
        multiply(letter_a, letter_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                 ldc);
}
