/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/logarithm.h"

#include <math.h>

#define LOG_2 0.69314718055994530942
#define LOG_2_HIGH 0x1.62e42fep-1 /* times an integer of 20 bits: exact */
#define LOG_2_LOW 1.8206359985041462e-09

double aps_log2(double x)
{
    double mantissa, s, square, sum = 0;
    int exponent;

    mantissa = frexp(x, &exponent);
    if (mantissa < 0.70710678118654752440) {
        mantissa *= 2;
        exponent--;
    }
    /* ln m = 2 artanh((m - 1) / (m + 1)), whose argument is at most 0.172 */
    s = (mantissa - 1) / (mantissa + 1);
    square = s * s;
    for (int i = 25; i >= 1; i -= 2)
        sum = sum * square + 1.0 / i;
    return exponent + 2 / LOG_2 * s * sum;
}

double aps_exp(double x)
{
    const double power = floor(x / LOG_2 + 0.5);
    const double rest = x - power * LOG_2_HIGH - power * LOG_2_LOW;
    double sum = 1;

    for (int i = 18; i >= 1; i--)
        sum = 1 + sum * rest / i;
    return ldexp(sum, (int)power);
}
