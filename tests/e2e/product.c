/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multiplies small matrices with BLAS, without using apsmpi:
 *
 *     product fortran|rows|columns     by sgemm_ or cblas_sgemm
 *     product bad                      with a leading dimension of -1
 *
 * prints (1 2; 3 4) (5 6; 7 8), and then that matrix plus 2 A' B (alpha 2, beta
 * 1, A transposed), one matrix a line, by rows.
 */
#include <stdio.h>
#include <string.h>

void sgemm_(const char *transpose_a, const char *transpose_b, const int *m,
            const int *n, const int *k, const float *alpha, const float *a,
            const int *lda, const float *b, const int *ldb, const float *beta,
            float *c, const int *ldc);
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n,
                 int k, float alpha, const float *a, int lda, const float *b,
                 int ldb, float beta, float *c, int ldc);

static const float rows_a[] = {1, 2, 3, 4}, rows_b[] = {5, 6, 7, 8};
static const float columns_a[] = {1, 3, 2, 4}, columns_b[] = {5, 7, 6, 8};

static void fortran(int transpose, float alpha, float beta, float *c)
{
    const int two = 2;

    sgemm_(transpose ? "T" : "N", "N", &two, &two, &two, &alpha, columns_a,
           &two, columns_b, &two, &beta, c, &two);
}

static void rows(int transpose, float alpha, float beta, float *c)
{
    cblas_sgemm(101, transpose ? 112 : 111, 111, 2, 2, 2, alpha, rows_a, 2,
                rows_b, 2, beta, c, 2);
}

static void columns(int transpose, float alpha, float beta, float *c)
{
    cblas_sgemm(102, transpose ? 112 : 111, 111, 2, 2, 2, alpha, columns_a, 2,
                columns_b, 2, beta, c, 2);
}

static void print(const float *c, int by_rows)
{
    printf("%g %g %g %g\n", (double)c[0], (double)c[by_rows ? 1 : 2],
           (double)c[by_rows ? 2 : 1], (double)c[3]);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fortran";
    void (*multiply)(int, float, float, float *) = fortran;
    const int by_rows = strcmp(how, "rows") == 0;
    float c[4] = {0};

    if (strcmp(how, "bad") == 0) {
        cblas_sgemm(101, 111, 111, 2, 2, 2, 1, rows_a, -1, rows_b, 2, 0, c, 2);
        print(c, 1);
        return 0;
    }
    if (by_rows)
        multiply = rows;
    else if (strcmp(how, "columns") == 0)
        multiply = columns;
    multiply(0, 1, 0, c);
    print(c, by_rows);
    multiply(1, 2, 1, c);
    print(c, by_rows);
    return 0;
}
