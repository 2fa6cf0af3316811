/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code shared by the tests of matrix products: matrices, and products of them
 * with all transposes, against the definition that each test has.
 */
#ifndef APS_TESTS_UNIT_NUMBER_GEMM_MATRICES_H
#define APS_TESTS_UNIT_NUMBER_GEMM_MATRICES_H

#include <string.h>

#include "number/gemm.h"
#include "number/gemm_kernel.h"
#include "unit/common/rounded.h"

#define ROOM 70000

static float a[ROOM], b[ROOM], c[ROOM], expected[ROOM];

/* Computes the expected product; `to` holds C already. */
static void multiply_by_definition(const struct aps_gemm_arguments *g,
                                   float *to);

static inline void fill(bool specials)
{
    for (size_t i = 0; i < ROOM; i++) {
        a[i] = random_value(specials);
        b[i] = random_value(specials);
        c[i] = random_value(specials);
    }
}

/* Returns row i, column j of a matrix that is stored as it is or as its transpose. */
static inline float element(const float *x, int64_t ld, bool transpose,
                            int64_t i, int64_t j)
{
    return transpose ? x[j * ld + i] : x[i * ld + j];
}

/* Returns the arguments of a product of a and b to c, m x k by k x n. */
static inline struct aps_gemm_arguments arguments(const char *format,
                                                  const char *accumulator,
                                                  int64_t m, int64_t n,
                                                  int64_t k)
{
    return (struct aps_gemm_arguments){
        .size = sizeof(struct aps_gemm_arguments),
        .format = aps_format_get(format, NULL),
        .accumulator = aps_format_get(accumulator, NULL),
        .m = m,
        .n = n,
        .k = k,
        .alpha = 1,
        .a = a,
        .lda = k > 0 ? k : 1,
        .b = b,
        .ldb = n > 0 ? n : 1,
        .c = c,
        .ldc = n > 0 ? n : 1,
    };
}

static inline bool agrees(enum aps_cpu cpu, const struct aps_gemm_arguments *g)
{
    struct aps_error error = {.text = ""};

    memcpy(expected, c, sizeof c);
    multiply_by_definition(g, expected);
    if (aps_gemm_on(cpu, g, &error) == 0)
        return same_floats(c, expected, ROOM);
    diag("%s", error.text);
    return false;
}

/* Compares all transposes, with rows longer than necessary. */
static inline bool transposes_agree(enum aps_cpu cpu,
                                    struct aps_gemm_arguments g)
{
    bool pass = true;

    for (int i = 0; i < 4; i++) {
        g.transpose_a = i & 1;
        g.transpose_b = i & 2;
        g.lda = (g.transpose_a ? g.m : g.k) + 3;
        g.ldb = (g.transpose_b ? g.k : g.n) + 1;
        g.ldc = g.n + 2;
        pass &= agrees(cpu, &g);
    }
    return pass;
}

#endif
