/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "oracle.h"

#include <mpfr.h>

/*
 * MPFR's significands are in [1/2, 1), so a value of exponent e in our words
 * has the MPFR exponent e + 1. Once the least exponent is that of the format's
 * smallest value, mpfr_subnormalize rounds what lies below the normal values
 * again, and correctly, since it is told the direction of the first rounding.
 * A format with E = 1 is all subnormal: its values end below 2 = 2^smallest.
 */
static float round_exact(const mpfr_t exact, int mantissa_bits, int smallest,
                         int greatest)
{
    mpfr_exp_t emin = mpfr_get_emin();
    mpfr_t y;
    float result;

    mpfr_init2(y, mantissa_bits + 1);
    int direction = mpfr_set(y, exact, MPFR_RNDN);
    mpfr_set_emin(smallest - mantissa_bits + 1);
    direction = mpfr_check_range(y, direction, MPFR_RNDN);
    mpfr_subnormalize(y, direction, MPFR_RNDN);
    if (mpfr_regular_p(y) && mpfr_get_exp(y) > greatest + 1)
        mpfr_set_inf(y, mpfr_sgn(y));
    mpfr_set_emin(emin);
    result = mpfr_get_flt(y, MPFR_RNDN); /* exact */
    mpfr_clear(y);
    return result;
}

float oracle_cast(const struct aps_format *format, float x, int exponent)
{
    int smallest = 1 - ((1 << (format->exponent_bits - 1)) - 1);
    int greatest = (1 << format->exponent_bits) - 2 + smallest - 1;
    mpfr_t exact;
    float result;

    mpfr_init2(exact, 24);
    mpfr_set_flt(exact, x, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, exponent, MPFR_RNDN);
    result = round_exact(exact, format->mantissa_bits, smallest, greatest);
    mpfr_clear(exact);
    return result;
}

float oracle_multiply(float x, float factor, int exponent)
{
    mpfr_t exact;
    float result;

    mpfr_init2(exact, 48);
    mpfr_set_flt(exact, x, MPFR_RNDN);
    mpfr_mul_d(exact, exact, factor, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, exponent, MPFR_RNDN);
    result = round_exact(exact, 23, -126, 127);
    mpfr_clear(exact);
    return result;
}

float oracle_divide(float x, float factor, int exponent)
{
    mpfr_t quotient;
    float result;

    /* so many bits that a quotient of two floats that is no float, and no
     * middle of two, cannot look like one */
    mpfr_init2(quotient, 200);
    mpfr_set_flt(quotient, x, MPFR_RNDN);
    mpfr_div_d(quotient, quotient, factor, MPFR_RNDN);
    mpfr_mul_2si(quotient, quotient, -exponent, MPFR_RNDN);
    result = round_exact(quotient, 23, -126, 127);
    mpfr_clear(quotient);
    return result;
}
