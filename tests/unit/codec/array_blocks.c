/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Block formats in aps.h: their sizes in bytes, and errors of every function
 * that cannot compute with them.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "number/check.h"
#include "number/format.h"
#include "number/parse.h"
#include "tap/tap.h"

static struct aps_format bfp;

/* Five bits a value, 20 of them: 12 1/2 bytes, and two of scale. */
static const struct aps_format odd = {.layout = APS_FORMAT_LAYOUT,
                                      .name = "odd/20",
                                      .family = APS_FAMILY_BFP,
                                      .width = 5,
                                      .block = 20,
                                      .scale_bytes = 2};

static void test_bytes(void)
{
    static const struct {
        const struct aps_format *format;
        size_t n, bytes;
    } table[] = {
        {&bfp, 0, 0},
        {&bfp, 1, 2},
        {&bfp, 63, 64},
        {&bfp, 64, 65},
        {&bfp, 65, 67},
        {&bfp, 128, 130},
        {&odd, 1, 3},
        {&odd, 19, 14},
        {&odd, 20, 15},
        {&odd, 21, 18},
        {&odd, 40, 30},
        {&odd, 60, 45},
        {&bfp, 6400000, 6500000},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ok(aps_packed_bytes(table[i].format, table[i].n) == table[i].bytes,
           "%s: %zu values take %zu bytes", table[i].format->name, table[i].n,
           table[i].bytes);
    ok(aps_packed_bytes(aps_format_get("fp32", NULL), SIZE_MAX) == SIZE_MAX,
       "bytes beyond SIZE_MAX are SIZE_MAX");
    ok(aps_packed_bytes(&odd, 20) + aps_packed_bytes(&odd, 33) ==
           aps_packed_bytes(&odd, 53),
       "pieces take as many bytes as the whole");
    ok(aps_format_block(&bfp) == 64, "aps_format_block says how many share");
    ok(aps_format_block(aps_format_get("e4m3fn", NULL)) == 1,
       "... and that in a float format none do");
}

static void test_single(void)
{
    errno = 0;
    ok(aps_encode(&bfp, 1) == UINT32_MAX && errno == EINVAL,
       "aps_encode refuses a format in blocks");
    errno = 0;
    ok(isnan(aps_decode(&bfp, 1)) && errno == EINVAL, "... aps_decode, too");
    errno = 0;
    ok(isnan(aps_cast(&bfp, 1)) && errno == EINVAL, "... and aps_cast");
    errno = 0;
    aps_cast(aps_format_get("e5m2", NULL), 1);
    ok(errno == 0, "a float format leaves errno alone");
}

/* The formula: a scale of four bytes for each block, and the codes. */
static void test_scales_of_four(void)
{
    static const struct {
        const char *name;
        size_t n, bytes;
    } table[] = {
        {"qsgd7/512", 512, 260},
        {"qsgd7/512", 513, 265},
        {"qsgd1/128", 1000, 7 * 36 + 4 + 26},
        {"int8/512", 1024, 1032},
        {"int8/512", 1, 5},
        {"sign/64", 64, 12},
        {"sign/64", 65, 17},
        {"sign/4096", 25600, 6 * 516 + 132},
        {"qsgd127/512-l2", 511, 515},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ok(aps_packed_bytes(aps_format_get(table[i].name, NULL), table[i].n) ==
               table[i].bytes,
           "%s: %zu values take %zu bytes", table[i].name, table[i].n,
           table[i].bytes);
}

/* Tests the roundings that each format accepts. */
static void test_roundings(void)
{
    static const struct {
        const char *name;
        bool nearest, stochastic, toward_zero, correlated;
    } table[] = {
        {"qsgd7/512", false, true, false, true},
        {"int8/512", true, true, true, true},
        {"sign/512", true, false, false, false},
        {"bfp7/64", true, true, true, true},
    };
    struct aps_error e = {.text = ""};
    struct aps_gemm_arguments g = APS_GEMM_ARGUMENTS_INIT;
    float x[2] = {1, 2};
    unsigned char wire[16];

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct aps_format *format = aps_format_get(table[i].name, NULL);
        const bool wanted[] = {
            [APS_ROUND_NEAREST] = table[i].nearest,
            [APS_ROUND_STOCHASTIC] = table[i].stochastic,
            [APS_ROUND_TOWARD_ZERO] = table[i].toward_zero,
            [APS_ROUND_CPD] = false,
            [APS_ROUND_CORRELATED] = table[i].correlated,
        };
        struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
        bool right = true;

        for (int r = 0; r <= APS_ROUND_CORRELATED; r++) {
            options.rounding = (enum aps_rounding)r;
            if (r == APS_ROUND_CPD)
                continue;
            right &= (aps_encode_array(format, x, 2, &options, wire, &e) ==
                      0) == wanted[r] &&
                     (aps_cast_array(format, x, 2, &options, x, &e) == 0) ==
                         wanted[r];
        }
        right &= aps_decode_array(format, wire, 2, NULL, x, &e) == 0;
        ok(right, "%s: its roundings; a decode takes any", table[i].name);
    }
    aps_encode_array(aps_format_get("qsgd7/512", NULL), x, 2, NULL, wire, &e);
    is(e.text,
       "aps_encode_array: 'qsgd7/512' is rounded by random bits: the rounding "
       "must be stochastic or correlated",
       "... and the errors of the others");
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = 1;
    g.a = g.b = x;
    g.c = x + 1;
    g.format = aps_format_get("qsgd7/512", NULL);
    g.accumulator = aps_format_get("fp32", NULL);
    ok(aps_gemm(&g, &e) == -1, "aps_gemm refuses what is drawn");
    is(e.text,
       "aps_gemm: format 'qsgd7/512' is always rounded by random bits: use a "
       "format intB/BUCKET, such as int8/512",
       "... with its cause");
    g.format = aps_format_get("int8/512", NULL);
    ok(aps_gemm(&g, &e) == 0, "... and multiplies integers");
}

static void refused(int result, const struct aps_error *error, const char *who)
{
    char text[200];

    snprintf(text, sizeof text,
             "%s 'bfp7/64' is in blocks of 64 values: one value has no code",
             who);
    ok(result == -1 && errno == EINVAL, "%s is refused", who);
    is(error->text, text, "... with its cause");
    errno = 0;
}

static void test_arrays(void)
{
    const struct aps_format *f = aps_format_get("e5m2", NULL);
    struct aps_gemm_arguments g = APS_GEMM_ARGUMENTS_INIT;
    float x[2] = {1, 2}, y[2] = {7, 7};
    const float *terms[1] = {x};
    struct aps_error e = {.text = ""};
    int exponent = 42;

    errno = 0;
    refused(aps_sum(&bfp, 1, 2, terms, y, &e), &e, "aps_sum: format");
    refused(aps_scale_exponent_tight(&bfp, x, 2, &exponent, &e), &e,
            "aps_scale_exponent_tight: format");
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = 1;
    g.a = g.b = x;
    g.c = y;
    g.format = f;
    g.accumulator = &bfp;
    refused(aps_gemm(&g, &e), &e, "aps_gemm: accumulator");
    ok(y[0] == 7 && y[1] == 7 && exponent == 42, "nothing was written");
}

static void test_offset(void)
{
    struct aps_cast_options given = APS_CAST_OPTIONS_INIT, options;
    struct aps_error e = {.text = ""};

    given.offset = 128;
    ok(aps_check_options("f", &bfp, &given, &options, &e) == 0 &&
           options.offset == 128,
       "a piece may begin where a block does");
    given.scale_exponent = 1;
    ok(aps_check_options("f", &bfp, &given, &options, &e) == -1,
       "blocks scale themselves");
    is(e.text,
       "f: the scale exponent is 1 and must be 0: blocks of 'bfp7/64' scale "
       "themselves",
       "... and why there must be no exponent");
    given.scale_exponent = 0;
    given.offset = 100;
    ok(aps_check_options("f", &bfp, &given, &options, &e) == -1 &&
           errno == EINVAL,
       "... and not inside one");
    is(e.text,
       "f: the offset 100 is inside a block of 'bfp7/64': it must be a "
       "multiple of 64",
       "... with its cause");
}

int main(void)
{
    if (aps_format_parse("bfp7/64", &bfp, NULL) < 0)
        bail_out("bfp7/64 is no format");
    test_bytes();
    test_single();
    test_arrays();
    test_offset();
    test_scales_of_four();
    test_roundings();
    return done_testing();
}
