/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays for tests of selections: the shapes of gradients, and hard cases for a
 * search: equal values, few values, zeros, subnormals, outliers.
 */
#ifndef APS_TESTS_UNIT_COMMON_VECTORS_H
#define APS_TESTS_UNIT_COMMON_VECTORS_H

#include <math.h>
#include <stddef.h>

#include "unit/common/rounded.h"

static inline double vector_uniform(void)
{
    return ((double)random_bits() + 0.5) * 0x1p-32;
}

/* The method of Box and Muller. */
static inline double vector_gauss(void)
{
    double radius = sqrt(-2 * log(vector_uniform()));

    return radius * cos(6.283185307179586 * vector_uniform());
}

static inline float vector_normal(size_t i)
{
    (void)i;
    return (float)vector_gauss();
}

static inline float vector_log_normal(size_t i)
{
    (void)i;
    return (float)(exp(3 * vector_gauss()) * (random_bits() % 2 ? 1 : -1));
}

static inline float vector_equal(size_t i)
{
    return i % 2 ? 0.1f : -0.1f;
}

static inline float vector_few(size_t i)
{
    (void)i;
    return (float)(int)(random_bits() % 7) - 3;
}

static inline float vector_subnormal(size_t i)
{
    (void)i;
    return aps_float_from_bits(random_bits() & 0x800fffffu);
}

static inline float vector_tiny(size_t i)
{
    (void)i;
    return aps_float_from_bits(random_bits() % 3);
}

static inline float vector_outlier(size_t i)
{
    return i == 17 ? 1e30f : (float)vector_gauss();
}

static inline float vector_zeros(size_t i)
{
    (void)i;
    return random_bits() % 50 ? 0.0f : (float)vector_gauss();
}

static inline float vector_rising(size_t i)
{
    return (float)i * 0.001f;
}

static inline float vector_blocks(size_t i)
{
    return (float)vector_gauss() * (i / 1024 % 5 ? 1e-4f : 1);
}

static inline float vector_huge(size_t i)
{
    (void)i;
    return (random_bits() % 3 ? 1 : -1) * 3.4028234e38f;
}

static const struct vector {
    const char *name;
    float (*element)(size_t i);
} vectors[] = {
    {"normal", vector_normal},
    {"log-normal", vector_log_normal},
    {"one magnitude, both signs", vector_equal},
    {"seven values", vector_few},
    {"subnormal", vector_subnormal},
    {"the two least subnormals and 0", vector_tiny},
    {"one outlier", vector_outlier},
    {"mostly zeros", vector_zeros},
    {"rising", vector_rising},
    {"layers of different scale", vector_blocks},
    {"the greatest float", vector_huge},
};
#define VECTORS (sizeof vectors / sizeof *vectors)

static inline void vector_fill(const struct vector *vector, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = vector->element(i);
}

#endif
