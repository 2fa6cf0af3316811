/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounding to a float format of any width up to that of a double, by the arithmetic of
 * a long double with more bits than a double.
 */
#ifndef APS_TESTS_UNIT_COMMON_WIDE_ORACLE_H
#define APS_TESTS_UNIT_COMMON_WIDE_ORACLE_H

#include <float.h>
#include <math.h>
#include <stdint.h>

_Static_assert(LDBL_MANT_DIG >= 64 && LDBL_MAX_EXP >= 16384,
               "a long double holds a double in steps of any format");

/* Returns the code of a value, rounded to nearest even, and the value that it stands
 * for. */
static inline uint64_t wide_oracle(int exponent_bits, int mantissa_bits,
                                   double value, double *means)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint64_t sign = (uint64_t)(signbit(value) != 0)
                          << (exponent_bits + mantissa_bits);
    const uint64_t inf = (uint64_t)(2 * bias + 1) << mantissa_bits;
    const long double size = fabsl((long double)value);
    int exponent = size == 0 ? 1 - bias : ilogbl(size);
    long double steps, near;

    *means = copysign(isnan(value) ? NAN : INFINITY, value);
    if (isnan(value))
        return sign | inf | UINT64_C(1) << (mantissa_bits - 1);
    if (isinf(value))
        return sign | inf;
    if (exponent < 1 - bias)
        exponent = 1 - bias;
    steps = rintl(ldexpl(size, mantissa_bits - exponent));
    near = ldexpl(steps, exponent - mantissa_bits);
    if (near >= ldexpl(1, bias + 1))
        return sign | inf;
    *means = copysign((double)near, value);
    /* The first of a binade's steps is in the exponent field. */
    return sign | (((uint64_t)(exponent + bias - 1) << mantissa_bits) +
                   (uint64_t)steps);
}

#endif
