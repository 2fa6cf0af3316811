/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums in a format: every variant against the definition, element by element.
 */
#include "config.h"

#include <errno.h>
#include <fenv.h>
#include <stdio.h>
#include <string.h>

#include "number/sum.h"
#include "unit/common/rounded.h"

#define N_MAX 2100
#define TERMS_MAX 33

/* How a sum is computed: one term after the other, by Kahan, or in chunks. */
struct way {
    const char *name;
    bool kahan;
    size_t chunk;
};
static const struct way ways[] = {
    {"ordered sums", false, 0},  {"Kahan sums", true, 0},
    {"chunks of 1", false, 1},   {"chunks of 3", false, 3},
    {"chunks of 11", false, 11}, {"one long chunk", false, SIZE_MAX},
};
#define WAYS (sizeof ways / sizeof *ways)

static float terms_of[TERMS_MAX][N_MAX + 1];
static float expected[N_MAX], out[N_MAX + 2];

static void fill(bool specials)
{
    for (size_t t = 0; t < TERMS_MAX; t++) {
        for (size_t i = 0; i < N_MAX + 1; i++)
            terms_of[t][i] = random_value(specials);
    }
}

static void sum_by_definition(const struct aps_format *format,
                              const struct way *way, size_t terms, size_t n,
                              const float *const x[])
{
    for (size_t i = 0; i < n; i++) {
        float total = 0, s = 0, c = 0;

        for (size_t t = 0; t < terms; t++) {
            add_rounded(format, way->kahan, x[t][i], &s, &c);
            if (way->chunk > 0 &&
                (t % way->chunk == way->chunk - 1 || t == terms - 1)) {
                total = rounded(format, total + s);
                s = 0;
            }
        }
        expected[i] = way->chunk > 0 ? total : s;
    }
}

/* Compares one kernel on one size, with arrays `first` elements off. */
static bool agrees(aps_sum_fn kernel, const struct aps_format *format,
                   const struct way *way, size_t terms, size_t n, size_t first)
{
    const float *x[TERMS_MAX];

    for (size_t t = 0; t < terms; t++)
        x[t] = terms_of[t] + first;
    sum_by_definition(format, way, terms, n, x);
    memset(out, 0xa5, sizeof out);
    kernel(format, way->kahan, way->chunk, terms, n, x, out + first);
    return same_floats(out + first, expected, n) &&
           aps_float_bits(out[first + n]) == 0xa5a5a5a5u;
}

static bool sizes_agree(aps_sum_fn kernel, const struct aps_format *format,
                        const struct way *way)
{
    static const size_t sizes[] = {0, 1, 15, 17, 1023, 1025, N_MAX};
    static const size_t terms[] = {0, 1, 2, 7, 11, TERMS_MAX};
    bool pass = true;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && pass; i++) {
        for (size_t j = 0; j < sizeof terms / sizeof *terms && pass; j++)
            pass = agrees(kernel, format, way, terms[j], sizes[i], 0);
    }
    return pass && agrees(kernel, format, way, 3, 100, 1);
}

static void test_variant(enum aps_cpu cpu)
{
    aps_sum_fn kernel = aps_sum_kernel(cpu);
    bool all[WAYS];
    char name[16];

    if (!kernel) {
        skip((int)(WAYS * (FORMATS + 1)), "this machine has no %s",
             aps_cpu_name(cpu));
        return;
    }
    for (size_t i = 0; i < FORMATS; i++) {
        struct aps_format format = format_named(formats[i]);

        fill(i % 2 == 0);
        for (size_t j = 0; j < WAYS; j++)
            ok(sizes_agree(kernel, &format, &ways[j]), "%s: %s in %s",
               aps_cpu_name(cpu), ways[j].name, formats[i]);
    }
    fill(true);
    memset(all, true, sizeof all);
    for (int e = 1; e <= 8; e++) {
        for (int m = 0; m <= 23; m++) {
            snprintf(name, sizeof name, "e%dm%d", e, m);
            struct aps_format format = format_named(name);

            for (size_t j = 0; j < WAYS; j++)
                all[j] &= agrees(kernel, &format, &ways[j], 9, 211, 0);
        }
    }
    for (size_t j = 0; j < WAYS; j++)
        ok(all[j], "%s: %s in all of the 192 formats", aps_cpu_name(cpu),
           ways[j].name);
}

/* 4096 ones in fp16: the plain sum stops at 2048. */
static void test_purpose(void)
{
    static const float *ones[4096];
    static const float one = 1;
    struct aps_format fp16 = format_named("fp16");
    float sum = 0;

    for (size_t t = 0; t < 4096; t++)
        ones[t] = &one;
    ok(aps_sum(&fp16, 4096, 1, ones, &sum, NULL) == 0 && sum == 2048,
       "an ordered sum loses what is half a step");
    ok(aps_sum_kahan(&fp16, 4096, 1, ones, &sum, NULL) == 0 && sum == 4096,
       "... and a Kahan sum does not");
    ok(aps_sum_chunked(&fp16, 64, 4096, 1, ones, &sum, NULL) == 0 &&
           sum == 4096,
       "... nor does one in chunks");
}

/*
 * Mean relative error of sums of LONG positive terms, as in figure 3b of Wang
 * et al.: in one long sum the terms are lost. e6m9 is their format.
 */
#define LONG 4096
static double mean_error(const struct aps_format *format, size_t chunk,
                         const float *const x[], size_t n)
{
    double error = 0;
    float sums[N_MAX];

    if ((chunk > 0 ? aps_sum_chunked(format, chunk, LONG, n, x, sums, NULL)
                   : aps_sum(format, LONG, n, x, sums, NULL)) < 0)
        return INFINITY;
    for (size_t i = 0; i < n; i++) {
        long double exact = 0;

        for (size_t t = 0; t < LONG; t++)
            exact += (long double)x[t][i];
        error += (double)fabsl(((long double)sums[i] - exact) / exact);
    }
    return error / (double)n;
}

static void test_long_sums(void)
{
    static const char *const names[] = {"e6m9", "e5m10", "e8m10", "e8m7"};
    static float values[LONG][16];
    static const float *x[LONG];

    for (size_t t = 0; t < LONG; t++) {
        for (size_t i = 0; i < 16; i++)
            values[t][i] = (float)(random_bits() >> 8) * 0x1p-24f;
        x[t] = values[t];
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct aps_format format = format_named(names[i]);
        double plain = mean_error(&format, 0, x, 16);
        double chunks = mean_error(&format, 64, x, 16);

        diag("%s, %d positive terms: mean relative error %.2g, in chunks of 64 "
             "%.2g",
             names[i], LONG, plain, chunks);
        ok(chunks < plain / 5,
           "%s: long sums of positive terms are better in chunks", names[i]);
    }
}

static void test_in_place(void)
{
    const float *x[3] = {terms_of[0], out, terms_of[2]};
    struct aps_format format = format_named("e4m3");

    fill(false);
    memcpy(out, terms_of[1], N_MAX * sizeof *out);
    sum_by_definition(&format, &ways[1], 3, N_MAX, x);
    ok(aps_sum_kahan(&format, 3, N_MAX, x, out, NULL) == 0 &&
           same_floats(out, expected, N_MAX),
       "out may be one of the terms");
}

static void test_environment(void)
{
    const float *x[] = {terms_of[0], terms_of[1], terms_of[2]};
    struct aps_format format = format_named("e8m23");

    fill(true);
    sum_by_definition(&format, &ways[0], 3, N_MAX, x);
    fesetround(FE_UPWARD);
    int rc = aps_sum(&format, 3, N_MAX, x, out, NULL);
    int direction = fegetround();
    fesetround(FE_TONEAREST);
    ok(rc == 0 && same_floats(out, expected, N_MAX),
       "the caller's rounding direction does not matter");
    ok(direction == FE_UPWARD, "... and is left as it was");
}

static void refuse(const char *name, const struct aps_format *format,
                   size_t terms, size_t n, const float *const x[], float *to,
                   const char *text)
{
    struct aps_error error = {.text = ""};

    out[0] = 42;
    errno = 0;
    ok(aps_sum(format, terms, n, x, to, &error) < 0 && errno == EINVAL &&
           out[0] == 42,
       "%s: refused, nothing written", name);
    is(error.text, text, "... with its cause");
}

static void test_errors(void)
{
    struct aps_format format = format_named("e5m2");
    const float *x[2] = {terms_of[0], NULL};

    refuse("no format", NULL, 1, 1, x, out, "aps_sum: format is NULL");
    struct aps_format other = format;

    other.layout++;
    refuse("a format of another libaps", &other, 1, 1, x, out,
           "aps_sum: format comes from a libaps of another version "
           "than " PACKAGE_VERSION
           "; install libaps and libaps-cuda of one version");
    refuse("a negative count", &format, 1, (size_t)-3, x, out,
           "aps_sum: n is negative or beyond memory: -3");
    refuse("a negative number of terms", &format, (size_t)-1, 1, x, out,
           "aps_sum: terms is negative or beyond memory: -1");
    refuse("no output", &format, 1, 5, x, NULL,
           "aps_sum: out is NULL for 5 elements");
    refuse("no output for one", &format, 1, 1, x, NULL,
           "aps_sum: out is NULL for 1 element");
    refuse("no terms", &format, 2, 5, NULL, out,
           "aps_sum: x is NULL for 2 terms");
    refuse("one term missing", &format, 2, 5, x, out,
           "aps_sum: x[1] is NULL for 5 elements");
    struct aps_error error;
    errno = 0;
    ok(aps_sum_chunked(&format, 0, 1, 1, x, out, &error) < 0 && errno == EINVAL,
       "chunks of nothing: refused");
    is(error.text, "aps_sum_chunked: chunk is 0 and must be at least 1",
       "... with its cause");
    ok(aps_sum(&format, 2, 0, NULL, NULL, NULL) == 0,
       "nothing of anything is right");
    ok(aps_sum(&format, 0, 1, NULL, out, NULL) == 0 && out[0] == 0,
       "... and the sum of nothing is 0");
}

int main(void)
{
    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++)
        test_variant(cpu);
    test_purpose();
    test_long_sums();
    test_in_place();
    test_environment();
    test_errors();
    return done_testing();
}
