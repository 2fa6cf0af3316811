/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "unit/number/oracle.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

/*
 * Returns `exact` rounded to a step of the format, in a format without a largest value.
 *
 * MPFR's significands are in [1/2, 1), so a value of exponent e, as this project
 * counts, has the MPFR exponent e + 1. Once the least exponent is that of the format's
 * smallest value, mpfr_subnormalize rounds values below the normal ones again, and
 * correctly, since its argument gives the direction of the first rounding.
 */
static double round_exact(const mpfr_t exact, int mantissa_bits, int smallest,
                          mpfr_rnd_t rounding)
{
    mpfr_exp_t emin = mpfr_get_emin();
    mpfr_t y;
    double result;

    mpfr_init2(y, mantissa_bits + 1);
    int direction = mpfr_set(y, exact, rounding);
    mpfr_set_emin(smallest - mantissa_bits + 1);
    direction = mpfr_check_range(y, direction, rounding);
    mpfr_subnormalize(y, direction, rounding);
    mpfr_set_emin(emin);
    result = mpfr_get_d(y, MPFR_RNDN); /* exact, or far beyond any format */
    mpfr_clear(y);
    return result;
}

/* Returns the largest finite value, from the specifications. */
static double largest(const struct aps_format *format)
{
    int m = format->mantissa_bits;

    if (strncmp(format->name, "e4m3fn", 6) == 0)
        return 448;
    if (strcmp(format->name, "e3m2fn") == 0)
        return 28;
    if (strcmp(format->name, "e2m3fn") == 0)
        return 7.5;
    if (strcmp(format->name, "e2m1fn") == 0)
        return 6;
    if (format->exponent_bits == 1) /* all subnormal, below 2 */
        return 2 - ldexp(1, 1 - m);
    return ldexp(2 - ldexp(1, -m), (1 << (format->exponent_bits - 1)) - 1);
}

static float cast(const struct aps_format *format, float x, int exponent,
                  mpfr_rnd_t rounding)
{
    int smallest = 2 - (1 << (format->exponent_bits - 1));
    double max = largest(format);
    mpfr_t exact;
    double y;

    mpfr_init2(exact, 24);
    mpfr_set_flt(exact, x, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, exponent, MPFR_RNDN);
    y = round_exact(exact, format->mantissa_bits, smallest, rounding);
    mpfr_clear(exact);
    if (fabs(y) > max) {
        bool to_max = strstr(format->name, "-sat") ||
                      format->kind == APS_FORMAT_FINITE ||
                      (rounding == MPFR_RNDZ && !isinf(x));

        y = copysign(to_max                           ? max
                     : format->kind == APS_FORMAT_NAN ? NAN
                                                      : INFINITY,
                     y);
    }
    return (float)y;
}

float oracle_cast(const struct aps_format *format, float x, int exponent)
{
    return cast(format, x, exponent, MPFR_RNDN);
}

float oracle_cast_toward_zero(const struct aps_format *format, float x,
                              int exponent)
{
    return cast(format, x, exponent, MPFR_RNDZ);
}

float oracle_multiply(float x, float factor, int exponent)
{
    mpfr_t exact;
    float result;

    mpfr_init2(exact, 48);
    mpfr_set_flt(exact, x, MPFR_RNDN);
    mpfr_mul_d(exact, exact, factor, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, exponent, MPFR_RNDN);
    result = (float)round_exact(exact, 23, -126, MPFR_RNDN);
    mpfr_clear(exact);
    return result;
}

float oracle_divide(float x, float factor, int exponent)
{
    mpfr_t quotient;
    float result;

    /* enough bits that a quotient of two floats cannot look like a float, or
     * the middle of two, unless it is one */
    mpfr_init2(quotient, 200);
    mpfr_set_flt(quotient, x, MPFR_RNDN);
    mpfr_div_d(quotient, quotient, factor, MPFR_RNDN);
    mpfr_mul_2si(quotient, quotient, -exponent, MPFR_RNDN);
    result = (float)round_exact(quotient, 23, -126, MPFR_RNDN);
    mpfr_clear(quotient);
    return result;
}
