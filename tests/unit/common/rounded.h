/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code shared by the tests of sums and matrix products: rounding by aps_cast,
 * which cast.c tests against MPFR, and random values.
 */
#ifndef APS_TESTS_UNIT_COMMON_ROUNDED_H
#define APS_TESTS_UNIT_COMMON_ROUNDED_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "number/format.h"
#include "number/bits.h"
#include "number/parse.h"
#include "tap/tap.h"

/* Formats with special cases. */
static const char *const formats[] = {
    "e5m2", "e4m3", "e3m0",  "e5m10", "e8m7", "e8m10", "e6m9",   "e8m23",
    "e1m0", "e1m5", "e1m23", "e5m23", "e8m0", "e2m1",  "e4m3fn", "e2m1fn",
};
#define FORMATS (sizeof formats / sizeof *formats)

static inline struct aps_format format_named(const char *name)
{
    struct aps_format format;
    struct aps_error error;

    if (aps_format_parse(name, &format, &error) < 0)
        bail_out("%s", error.text);
    return format;
}

/* Returns x rounded to the format; every NaN becomes the canonical one. */
static inline float rounded(const struct aps_format *format, float x)
{
    float y = isnan(x) ? x : aps_cast(format, x);

    return isnan(y) ? aps_float_from_bits(APS_FLOAT_NAN) : y;
}

/* Adds one term to a sum as aps.h defines it. */
static inline void add_rounded(const struct aps_format *format, bool kahan,
                               float x, float *s, float *c)
{
    if (!kahan) {
        *s = rounded(format, *s + x);
        return;
    }
    float y = rounded(format, x - *c);
    float t = rounded(format, *s + y);

    *c = rounded(format, rounded(format, t - *s) - y);
    *s = t;
}

static inline uint32_t random_bits(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* Returns a value of random sign, mostly a few binades around 1, and with
 * `specials` sometimes any bit pattern, INF and NaN included. */
static inline float random_value(bool specials)
{
    uint32_t bits = random_bits();

    if (specials && random_bits() % 64 == 0) {
        static const uint32_t odd[] = {
            0x7f800000, 0xff800000, 0x7fc00000, 0xffffffff, 0x7f800001,
            0x80000000, 0x00000001, 0x7f7fffff, 0x00800000, 0x807fffff,
        };

        return aps_float_from_bits(bits % 2 ? random_bits()
                                            : odd[bits / 2 % (sizeof odd / 4)]);
    }
    return ldexpf(aps_float_from_bits((bits & 0x807fffffu) | 0x3f800000u),
                  (int)(random_bits() % 12) - 8);
}

/* True if all bits are equal; prints the first difference. */
static inline bool same_floats(const float *got, const float *expected,
                               size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (aps_float_bits(got[i]) != aps_float_bits(expected[i])) {
            diag("element %zu: %a, expected %a", i, (double)got[i],
                 (double)expected[i]);
            return false;
        }
    }
    return true;
}

#endif
