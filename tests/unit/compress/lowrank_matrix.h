/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers and matrices, for the tests of factors of low rank. */
#ifndef APS_TESTS_UNIT_COMPRESS_LOWRANK_MATRIX_H
#define APS_TESTS_UNIT_COMPRESS_LOWRANK_MATRIX_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compress/lowrank.h"
#include "tests/tap/tap.h"

static inline float random_float(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(state >> 32) * 0x1p-31f;
}

/* Returns n floats of -1 to 1, which the caller frees. The allocation ends
 * after the last one, so that memory checkers find reads beyond it. */
static inline float *random_floats(size_t n)
{
    float *x = malloc(n > 0 ? n * sizeof *x : 1);

    if (!x)
        bail_out("no memory for %zu floats", n);
    for (size_t i = 0; i < n; i++)
        x[i] = random_float();
    return x;
}

/* Returns n uninitialised floats, which the caller frees. */
static inline float *empty_floats(size_t n)
{
    float *x = random_floats(n);

    memset(x, 0xa5, n * sizeof *x);
    return x;
}

static inline bool same_bits(const float *x, const float *y, size_t n)
{
    return n == 0 || memcmp(x, y, n * sizeof *x) == 0;
}

/* Returns ||x - y|| / ||y||, of n elements; 0 of zeros. */
static inline double distance(const float *x, const float *y, size_t n)
{
    double difference = 0, length = 0;

    for (size_t i = 0; i < n; i++) {
        difference += pow((double)x[i] - (double)y[i], 2);
        length += pow((double)y[i], 2);
    }
    return difference > 0 ? sqrt(difference / length) : 0;
}

/* Returns a matrix of that rank, or of less. */
static inline float *random_matrix(size_t rows, size_t columns, size_t rank)
{
    float *left = random_floats(rows * rank);
    float *right = random_floats(columns * rank);
    float *m = empty_floats(rows * columns);

    for (size_t i = 0; i < rows * columns; i++) {
        double sum = 0;

        for (size_t k = 0; k < rank; k++)
            sum += (double)left[i / columns * rank + k] *
                   (double)right[i % columns * rank + k];
        m[i] = (float)sum;
    }
    free(left);
    free(right);
    return m;
}

#endif
