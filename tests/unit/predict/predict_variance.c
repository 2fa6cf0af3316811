/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variance retention ratio: against values of an independent calculation of
 * the paper's Theorem 1, against its closed form if no bits of values are lost,
 * against widths in the paper, and against real sums of random values.
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "aps.h"
#include "codec/codec.h"
#include "number/parse.h"
#include "predict/variance.h"
#include "tap.h"

/* By Python and math.erfc, from the theorem alone. */
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

/* Lemma 1: values without mantissa bits have none to lose. */
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

static void get_format(int bits, struct aps_format *format)
{
    char name[16];

    snprintf(name, sizeof name, "e8m%d", bits);
    if (aps_format_parse(name, format, NULL) < 0)
        bail_out("formats");
}

/* Draws normal values of few mantissa bits. */
static void draw(int bits, size_t n, float *values)
{
    const struct aps_scaling scaling = {.factor = 1};
    static uint64_t state = 88172645463325252u;
    struct aps_format format;
    struct aps_codec codec;

    for (size_t i = 0; i < n; i++)
        values[i] = (float)(sqrt(-2 * log(uniform(&state))) *
                            cos(2 * M_PI * uniform(&state)));
    get_format(bits, &format);
    aps_codec_init(&format, &codec);
    codec.round(&codec, n, scaling, values);
}

#define TRIALS ((size_t)2000)

/* Sums x[terms], TRIALS in parallel, in partial sums of `bits` mantissa bits. */
static void sum_up(int bits, size_t chunk, size_t terms, const float *const x[],
                   float *out)
{
    struct aps_format format;

    get_format(bits, &format);
    if ((chunk > 0
             ? aps_sum_chunked(&format, chunk, terms, TRIALS, x, out, NULL)
             : aps_sum(&format, terms, TRIALS, x, out, NULL)) < 0)
        bail_out("aps_sum");
}

/* Returns the share of the variance of normal values that real sums in e8mM
 * keep: in each group, and in sums of the groups' sums, cast to the bits of the
 * values, as reductions by groups make them. */
static double measured(int bits, const struct aps_variance_sum *sum)
{
    const size_t n = sum->group * sum->groups;
    const struct aps_scaling scaling = {.factor = 1};
    float *values = malloc(n * TRIALS * sizeof *values);
    float *sums = malloc((sum->groups + 1) * TRIALS * sizeof *sums);
    const float **x = malloc((n + sum->groups) * sizeof *x);
    double kept = 0, all = 0;
    struct aps_format format;
    struct aps_codec codec;

    if (!values || !sums || !x)
        bail_out("out of memory");
    draw(sum->value_bits, n * TRIALS, values);
    get_format(sum->value_bits, &format);
    aps_codec_init(&format, &codec);
    for (size_t t = 0; t < n; t++)
        x[t] = values + t * TRIALS;
    for (size_t g = 0; g < sum->groups; g++) {
        x[n + g] = sums + g * TRIALS;
        sum_up(bits, sum->chunk, sum->group, x + g * sum->group,
               sums + g * TRIALS);
    }
    if (sum->groups > 1) {
        codec.round(&codec, sum->groups * TRIALS, scaling, sums);
        sum_up(bits, sum->chunk, sum->groups, x + n,
               sums + sum->groups * TRIALS);
    }
    for (size_t i = 0; i < TRIALS; i++) {
        const float last =
            sums[(sum->groups > 1 ? sum->groups * TRIALS : 0) + i];
        double exact = 0;

        for (size_t t = 0; t < n; t++)
            exact += (double)x[t][i];
        kept += (double)last * (double)last;
        all += exact * exact;
    }
    free(x);
    free(sums);
    free(values);
    return kept / all;
}

/* Sums of the kinds that reductions have: the predicted number of bits keeps
 * the variance, 3 bits fewer do not. */
static void test_real_sums(void)
{
    static const struct {
        struct aps_variance_sum sum;
        const char *what;
    } cases[] = {
        {{2, 256, 1, 0}, "256 values"},
        {{2, 1024, 1, 0}, "1024 values"},
        {{2, 1024, 1, 32}, "1024 values in chunks of 32"},
        {{2, 1024, 1, 8}, "1024 values in chunks of 8"},
        {{2, 32, 32, 0}, "32 groups of 32 values"},
        {{2, 8, 128, 0}, "128 groups of 8 values"},
        {{2, 1, 256, 0}, "256 groups of one value"},
        {{2, 64, 64, 8}, "64 groups of 64 values, in chunks of 8"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct aps_variance_sum *sum = &cases[i].sum;
        const int bits = aps_variance_bits(sum);
        const double enough = measured(bits, sum);
        const double less = measured(bits - 3, sum);
        const double promised = aps_variance_retained_grouped(bits, sum);
        const double kept = aps_variance_retained_grouped(bits - 3, sum);

        diag("%s: %d bits: %.4f, real %.4f; 3 fewer: %.4f, real %.4f",
             cases[i].what, bits, promised, enough, kept, less);
        ok(enough > 0.98 && enough < 1.02,
           "real sums of %s keep it with the predicted bits", cases[i].what);
        ok(less < enough - 0.03, "and not with 3 fewer");
        ok(enough > promised - 0.02 && less > kept - 0.02,
           "no more is lost than the theorem says");
    }
}

static int bits_of(int value_bits, size_t n, size_t chunk)
{
    const struct aps_variance_sum sum = {value_bits, n, 1, chunk};

    return aps_variance_bits(&sum);
}

int main(void)
{
    struct aps_variance_sum groups = {2, 32, 32, 0};

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
        const int plain = bits_of(PRODUCT_BITS, n, 0);
        const int chunked = bits_of(PRODUCT_BITS, n, 64);

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
    ok(bits_of(2, 256, 0) == 6 && bits_of(2, 1024, 0) == 7,
       "6 bits are enough for 256 values, 7 for 1024");
    ok(bits_of(2, 1024, 32) < 7, "chunks need fewer");
    ok(aps_variance_bits(&groups) < 7, "so do groups");
    ok(aps_variance_retained_grouped(4, &groups) ==
           aps_variance_retained(4, 2, 32) * aps_variance_retained(4, 2, 32),
       "their ratio is that of a group's sum, times that of the sum of groups");
    groups.groups = 1;
    ok(aps_variance_retained_grouped(4, &groups) ==
           aps_variance_retained(4, 2, 32),
       "a single group is summed once");
    ok(aps_variance_retained_chunked(5, 2, 64, 64) ==
           aps_variance_retained(5, 2, 64),
       "a single chunk is not a chunk");
    test_real_sums();
    return done_testing();
}
