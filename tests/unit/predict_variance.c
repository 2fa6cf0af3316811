/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variance retention ratio: against values of an independent calculation of
 * the paper's Theorem 1, against its closed form where no bits of values get lost,
 * against widths that the paper publishes, and against real sums of random values.
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "codec/codec.h"
#include "predict/variance.h"
#include "tap.h"

/* By Python and math.erfc, written from the theorem alone. */
static const struct {
    int sum_bits, value_bits;
    size_t n;
    double retained;
} known[] = {
    {2, 2, 8, 0.840041},    {2, 2, 256, 0.468449},  {3, 2, 32, 0.752431},
    {4, 2, 1024, 0.556366}, {5, 2, 256, 0.814561},  {6, 2, 256, 0.999332},
    {6, 2, 1024, 0.799812}, {7, 2, 1024, 0.998931}, {8, 2, 4096, 0.997124},
};

/*
 * The paper's Table 1, forward sums of ResNet-18's four blocks of layers, as a public
 * review of the paper quotes it: mantissa bits of plain sums, and of sums in chunks
 * of 64. A sum is as long as 3 x 3 x channels; products of two FP8 values with 2
 * mantissa bits have 5.
 */
#define PRODUCT_BITS 5
static const struct {
    size_t n;
    int plain, chunked;
} published[] = {{576, 7, 5}, {1152, 8, 5}, {2304, 8, 5}, {4608, 9, 6}};

/* Lemma 1: values of no mantissa bits have none to lose. */
static double lemma(int sum_bits, size_t n)
{
    const double a = exp2(sum_bits);
    double sum = 0, total = 0, last;

    for (size_t i = 2; i < n; i++) {
        const double q = erfc(a / sqrt(2. * (double)i)) *
                         erf(a / sqrt(2. * (double)(i - 1)));

        total += q;
        sum += (double)i * q;
    }
    last = erf(2 * a / sqrt(2. * (double)n));
    return (sum + (double)n * last) / ((total + last) * (double)n);
}

static double uniform(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-53 + 0x1p-54;
}

/* What part of the variance of n normal values of 2 mantissa bits real sums in
 * e8mM keep. */
static double measured(int bits, size_t n, int trials)
{
    const struct aps_scaling scaling = {.factor = 1};
    struct aps_format values, sums;
    struct aps_codec value_codec, sum_codec;
    uint64_t state = 88172645463325252u;
    double kept = 0, all = 0;
    char name[16];

    snprintf(name, sizeof name, "e8m%d", bits);
    if (aps_format_parse("e8m2", &values, NULL) < 0 ||
        aps_format_parse(name, &sums, NULL) < 0)
        bail_out("formats");
    aps_codec_init(&values, &value_codec);
    aps_codec_init(&sums, &sum_codec);
    for (int t = 0; t < trials; t++) {
        float sum = 0;
        double exact = 0;

        for (size_t i = 0; i < n; i++) {
            float x = (float)(sqrt(-2 * log(uniform(&state))) *
                              cos(2 * M_PI * uniform(&state)));

            value_codec.round(&value_codec, 1, scaling, &x);
            sum += x;
            sum_codec.round(&sum_codec, 1, scaling, &sum);
            exact += (double)x;
        }
        kept += (double)sum * (double)sum;
        all += exact * exact;
    }
    return kept / all;
}

int main(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double got = aps_variance_retained(
            known[i].sum_bits, known[i].value_bits, known[i].n);

        if (!ok(fabs(got - known[i].retained) < 1e-6,
                "%d bits, %zu values of %d bits", known[i].sum_bits, known[i].n,
                known[i].value_bits))
            diag("%.7f", got);
    }
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const size_t n = published[i].n;
        const int plain = aps_variance_bits(PRODUCT_BITS, n, 0);
        const int chunked = aps_variance_bits(PRODUCT_BITS, n, 64);

        if (!ok(plain == published[i].plain, "%zu products: the paper's width",
                n))
            diag("%d bits", plain);
        if (!ok(chunked >= published[i].chunked &&
                    chunked <= published[i].chunked + 1,
                "in chunks of 64: the paper's width, or one bit more"))
            diag("%d bits", chunked);
    }
    for (int bits = 1; bits <= 4; bits++)
        ok(fabs(aps_variance_retained(bits, 0, 64) - lemma(bits, 64)) < 1e-12,
           "values of no mantissa bits: Lemma 1, %d bits", bits);
    ok(aps_variance_retained(2, 2, 1) == 1, "one value: nothing is lost");
    ok(aps_variance_bits(2, 256, 0) == 6 && aps_variance_bits(2, 1024, 0) == 7,
       "6 bits are enough for 256 values, 7 for 1024");
    ok(aps_variance_bits(2, 1024, 32) < 7, "chunks need fewer");
    ok(aps_variance_retained_chunked(5, 2, 64, 64) ==
           aps_variance_retained(5, 2, 64),
       "a single chunk is no chunk");
    for (size_t n = 256; n <= 1024; n *= 4) {
        const int bits = aps_variance_bits(2, n, 0);
        const double enough = measured(bits, n, 2000);
        const double less = measured(bits - 3, n, 2000);

        if (!ok(enough > 0.98 && enough < 1.02,
                "real sums of %zu values keep it with so many bits", n))
            diag("%g with %d", enough, bits);
        if (!ok(less < 0.9, "and not with 3 fewer"))
            diag("%g with %d", less, bits - 3);
    }
    return done_testing();
}
