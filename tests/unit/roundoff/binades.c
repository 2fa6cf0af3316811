/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms of exponents, against frexp. */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "roundoff/binades.h"
#include "tests/tap/tap.h"

#define COUNT 100000

/* Counts in the plain way. */
static void count_plainly(struct aps_binades *binades, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int exponent;

        if (isnan(x[i])) {
            binades->nan++;
        } else if (isinf(x[i])) {
            binades->infinite++;
        } else if (x[i] == 0) {
            binades->zeros++;
        } else {
            (void)frexp((double)x[i], &exponent); /* in [0.5, 1) */
            binades->counts[exponent - 1 - APS_BINADE_MIN]++;
        }
    }
}

static void test_all_bits(void)
{
    static float x[COUNT];
    static struct aps_binades fast, plain;
    uint32_t state = 7;

    for (size_t i = 0; i < COUNT; i++) {
        uint32_t bits;

        state = state * 1664525u + 1013904223u;
        bits = state ^ (uint32_t)i << 13;
        /* one in four is subnormal, INF, NaN or zero */
        if (i % 4 == 0)
            bits &= i % 8 == 0 ? 0x807fffffu : 0xff800001u;
        if (i % 101 == 0)
            bits &= 0x80000000u;
        memcpy(&x[i], &bits, sizeof bits);
    }
    aps_binades_add(&fast, x, COUNT / 3);
    aps_binades_add(&fast, x + COUNT / 3, COUNT - COUNT / 3);
    count_plainly(&plain, x, COUNT);
    ok(memcmp(&fast, &plain, sizeof fast) == 0,
       "binades of any bits are those of frexp");
    ok(fast.nan > 0 && fast.infinite > 0 && fast.zeros > 0 &&
           fast.counts[0 - APS_BINADE_MIN] > 0,
       "... and all kinds of them were there");
}

static void test_text(void)
{
    static const float x[] = {0x1p-149f, 0x1p-149f, -1.5f, 1.0f,
                              3.0f,      0x1p127f,  0,     INFINITY};
    static char text[APS_BINADES_TEXT];
    struct aps_binades binades = {0};

    is(aps_binades_format(&binades, text), "", "no values, no text");
    aps_binades_add(&binades, x, sizeof x / sizeof *x);
    is(aps_binades_format(&binades, text), "-149:2 0:2 1:1 127:1",
       "ascending, without empty ones");
    for (int i = 0; i < APS_BINADES; i++)
        binades.counts[i] = SIZE_MAX;
    ok(strlen(aps_binades_format(&binades, text)) < APS_BINADES_TEXT - 1,
       "all of them have room");
}

int main(void)
{
    test_all_bits();
    test_text();
    return done_testing();
}
