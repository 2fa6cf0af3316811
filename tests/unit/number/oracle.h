/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An oracle for casts, by MPFR: the correctly rounded value of x * factor * 2^exponent
 * in a format, as a float. It shares no code with the library's arithmetic.
 */
#ifndef APS_TESTS_UNIT_NUMBER_ORACLE_H
#define APS_TESTS_UNIT_NUMBER_ORACLE_H

#include "number/format.h"

/* Returns x * 2^exponent rounded once, to nearest even or toward zero. x is not NaN. */
float oracle_cast(const struct aps_format *format, float x, int exponent);
float oracle_cast_toward_zero(const struct aps_format *format, float x,
                              int exponent);

/* Returns x * factor * 2^exponent (divided: x / (factor * 2^exponent)), rounded
 * once to float. */
float oracle_multiply(float x, float factor, int exponent);
float oracle_divide(float x, float factor, int exponent);

#endif
