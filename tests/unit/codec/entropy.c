/* SPDX-License-Identifier: BSD-3-Clause */
/* The entropy of codes, against codes that aps_encode gives one by one. */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aps.h"
#include "codec/entropy.h"
#include "tests/tap/tap.h"

#define COUNT 40001

static float x[COUNT];

/* Counts the values that are equal after the cast, by sorting them. */
static int compare(const void *a, const void *b)
{
    const float p = *(const float *)a, q = *(const float *)b;

    return (p > q) - (p < q);
}

static double entropy_of_values(const char *name, int exponent)
{
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    static float y[COUNT];
    double entropy = 0;

    options.scale_exponent = exponent;
    aps_cast_array(aps_format_get(name, NULL), x, COUNT, &options, y, NULL);
    qsort(y, COUNT, sizeof *y, compare);
    for (size_t i = 0, next; i < COUNT; i = next) {
        double p;

        for (next = i; next < COUNT && y[next] == y[i]; next++)
            ;
        p = (double)(next - i) / COUNT;
        entropy -= p * log2(p);
    }
    return entropy;
}

static double entropy_of_codes(const char *name, int exponent)
{
    struct aps_codec codec;

    aps_codec_init(aps_format_get(name, NULL), &codec);
    return aps_codes_entropy(
        &codec, x, COUNT,
        (struct aps_scaling){.exponent = exponent, .factor = 1}, NULL);
}

/* No value is rounded to -0, which has its own code. */
static void fill(void)
{
    uint32_t state = 11;

    for (size_t i = 0; i < COUNT; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = ldexpf(1 + (float)(state >> 9) / (1 << 23), (int)(i % 9) - 4);
        if (i % 3 == 0 && x[i] > 0.5f)
            x[i] = -x[i];
    }
}

static void test_floats(void)
{
    static const char *const names[] = {"e5m2", "e4m3", "e3m2", "e5m10"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int exponent = 0; exponent <= 3; exponent += 3) {
            const double codes = entropy_of_codes(names[i], exponent);
            const double values = entropy_of_values(names[i], exponent);

            if (!ok(fabs(codes - values) < 1e-9, "%s, scale 2^%d", names[i],
                    exponent))
                diag("%g, not %g", codes, values);
        }
}

/* In a block whose scale is 1 a code is a value. */
static void test_blocks(void)
{
    static const char *const names[] = {"mx-e4m3fn", "bfp7/64", "int4/512",
                                        "sign/512"};
    float kept[COUNT];

    memcpy(kept, x, sizeof x);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = i % 2 ? 1.0f : -1.0f;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ok(fabs(entropy_of_codes(names[i], 0) - 1) < 1e-6,
           "two values, as many of each: 1 bit in %s", names[i]);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ok(entropy_of_codes(names[i], 0) == 0, "one value: 0 bits in %s",
           names[i]);
    memcpy(x, kept, sizeof x);
}

static void test_limits(void)
{
    const size_t four[4] = {5, 5, 5, 5};

    ok(isnan(entropy_of_codes("tf32", 0)), "wide codes are not counted");
    ok(aps_entropy_of(four, 4, 20) == 2, "four equal frequencies have 2 bits");
}

int main(void)
{
    fill();
    test_floats();
    test_blocks();
    test_limits();
    return done_testing();
}
