/* SPDX-License-Identifier: BSD-3-Clause */
#include "rounding.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- one value ----------------------------------------------------------- */

struct number {
    int m;        /* mantissa bits */
    int bias;     /* also the greatest exponent of eEmM, and U of scale aps */
    double limit; /* the greatest finite value */
    bool finite;  /* all its codes are finite values */
};

/* The formats "eEmMfn" have no INF; values beyond the limit are INF here all
 * the same, to show an overflow. e4m3fn has a NaN, other formats do not. */
static void number_extend(const char *format, struct number *number)
{
    if (!strstr(format, "fn"))
        return;
    number->finite = strcmp(format, "e4m3fn") != 0;
    number->limit =
        ldexp(2 - ldexp(1, number->finite ? -number->m : 1 - number->m),
              number->bias + 1);
}

static struct number number_of_format(const char *format)
{
    struct number number;
    int e;

    if (sscanf(format, "e%dm%d", &e, &number.m) != 2)
        abort();
    number.bias = (1 << (e - 1)) - 1;
    number.limit = ldexp(2 - ldexp(1, -number.m), number.bias);
    if (e == 1) /* no normal numbers */
        number.limit = 2 - ldexp(2, -number.m);
    number.finite = false;
    number_extend(format, &number);
    return number;
}

static struct number number_of(const struct way *way)
{
    return number_of_format(way->format);
}

/* Returns the number format of partial sums. */
static struct number number_of_sums(const struct way *way)
{
    return number_of_format(way->sums ? way->sums : way->format);
}

/* Returns 2^exponent as a normal double: all products below are in the range of
 * doubles, and so exact; ldexp() would take most of the time of long vectors. */
static double power(int exponent)
{
    const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounds to nearest even in the format. */
static double cast(const struct number *number, double x)
{
    int step;
    double y;

    if (x == 0 || !isfinite(x))
        return x;
    step = ilogb(x);
    if (step < 1 - number->bias)
        step = 1 - number->bias;
    step -= number->m;
    y = rint(x * power(-step)) * power(step);
    return fabs(y) > number->limit ? copysign(INFINITY, y) : y;
}

/* Products with a constant are rounded to float, others are exact. */
static double scaled(const struct way *way, float x, int exponent)
{
    if (way->scale == SCALE_FIXED)
        return (float)((double)x * (double)way->fixed);
    return (double)x * power(exponent);
}

static float unscaled(const struct way *way, double x, int exponent)
{
    if (way->scale == SCALE_FIXED)
        return (float)(x / (double)way->fixed);
    return (float)(x * power(-exponent));
}

/* Returns the float that represents a partial sum in the format. If nothing
 * else shows an overflow, the largest value means one. */
static float rounded(const struct way *way, const struct number *number,
                     int exponent, float x)
{
    double y;

    if (isnan(x))
        return x;
    y = cast(number, scaled(way, x, exponent));
    if (number->finite && fabs(y) >= number->limit)
        y = copysign(INFINITY, y);
    return unscaled(way, y, exponent);
}

/* --- exponents ----------------------------------------------------------- */

static float max_finite(size_t n, const float *x)
{
    float max = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]) && fabsf(x[i]) > max)
            max = fabsf(x[i]);
    return max;
}

int stage_exponent(const struct way *way, int count, const float *const x[],
                   size_t n)
{
    struct number number = number_of(way);
    const struct number sums = number_of_sums(way);
    double product;
    float max = 0;
    int exponent;

    if (way->scale != SCALE_APS)
        return 0;
    if (way->accumulate != ACCUMULATE_FP32 && sums.limit < number.limit)
        number = sums;
    for (int i = 0; i < count; i++)
        max = fmaxf(max, max_finite(n, x[i]));
    if (max == 0)
        return 0;
    product = (double)count * (double)max;
    exponent = ilogb(product);
    if (product > ldexp(1, exponent))
        exponent++;
    return number.bias - exponent;
}

static int tight_exponent(const struct number *number, float max)
{
    int exponent;

    if (max == 0)
        return 0;
    exponent = ilogb(number->limit) - ilogb(max);
    return ldexp(max, exponent) > number->limit ? exponent - 1 : exponent;
}

/* --- blocks -------------------------------------------------------------- */

void send_block(const struct way *way, int exponent, size_t n, const float *x,
                float *y)
{
    const struct number number = number_of(way);
    bool nan = false;

    if (way->scale == SCALE_TIGHT)
        exponent = tight_exponent(&number, max_finite(n, x));
    for (size_t i = 0; i < n; i++)
        nan |= isnan(x[i]);
    for (size_t i = 0; i < n; i++) {
        double code = cast(&number, scaled(way, x[i], exponent));

        /* The marker of formats without NaN applies to the whole block. */
        if (nan && number.m == 0 && isinf(code))
            code = NAN;
        y[i] = unscaled(way, code, exponent);
    }
}

void add_values(const struct way *way, int exponent, size_t n, const float *x,
                float *sum)
{
    const struct number number = number_of_sums(way);

    for (size_t i = 0; i < n; i++) {
        sum[i] += x[i];
        if (way->accumulate == ACCUMULATE_FORMAT)
            sum[i] = rounded(way, &number, exponent, sum[i]);
    }
}

/* Like add_values, by Kahan: lost[n] is what the sum has lost so far. */
static void add_by_kahan(const struct way *way, int exponent, size_t n,
                         const float *x, float *sum, float *lost)
{
    const struct number number = number_of_sums(way);

    for (size_t i = 0; i < n; i++) {
        float y = rounded(way, &number, exponent, x[i] - lost[i]);
        float t = rounded(way, &number, exponent, sum[i] + y);

        lost[i] = rounded(way, &number, exponent, t - sum[i]);
        lost[i] = rounded(way, &number, exponent, lost[i] - y);
        sum[i] = t;
    }
}

/* Adds block k of `count`, in chunks: partial[n] is the current chunk's sum,
 * which goes to sum[n] at its end. */
static void add_in_chunks(const struct way *way, int exponent, int k, int count,
                          size_t n, const float *x, float *sum, float *partial)
{
    const bool ends = k % way->chunk == way->chunk - 1 || k == count - 1;

    if (k % way->chunk == 0)
        memcpy(partial, x, n * sizeof *partial);
    else
        add_values(way, exponent, n, x, partial);
    if (ends && k < way->chunk)
        memcpy(sum, partial, n * sizeof *sum);
    else if (ends)
        add_values(way, exponent, n, partial, sum);
}

void sum_blocks(const struct way *way, int exponent, int count,
                const float *const x[], size_t n, float *sum)
{
    const bool kahan = way->accumulate == ACCUMULATE_KAHAN;
    float *block = malloc(n * sizeof *block + 1);
    float *lost = calloc(n + 1, sizeof *lost);

    if (!block || !lost)
        abort();
    for (size_t i = 0; i < n && kahan; i++)
        sum[i] = 0;
    for (int k = 0; k < count; k++) {
        send_block(way, exponent, n, x[k], block);
        if (kahan)
            add_by_kahan(way, exponent, n, block, sum, lost);
        else if (way->chunk > 0)
            add_in_chunks(way, exponent, k, count, n, block, sum, lost);
        else if (k > 0)
            add_values(way, exponent, n, block, sum);
        else
            memcpy(sum, block, n * sizeof *sum);
    }
    free(block);
    free(lost);
}
