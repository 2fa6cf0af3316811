/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "number/format.h"
#include "number/parse.h"
#include "tap/tap.h"

static const struct {
    const char *name;
    const char *cause; /* a part of the message */
} bad[] = {
    {NULL, "the name is NULL"},
    {"", "empty"},
    {"e", "format 'e': not a format; formats are eEmM"},
    {"e5", "not a format"},
    {"e5m", "not a format"},
    {"m2", "not a format"},
    {"5m2", "not a format"},
    {"e5n2", "format 'e5n2': not a format; formats are eEmM"},
    {"e5m2 ", "not a format"},
    {" e5m2", "not a format"},
    {"e5m2x", "not a format"},
    {"e5m2fnuz", "not a format"},
    {"e4m3fnuz", "not a format"},
    {"e4m3f", "not a format"},
    {"e4m3fn ", "not a format"},
    {"e4m3fnfn", "not a format"},
    {"e5m2fn", "format 'e5m2fn': the formats without INF are e4m3fn,"},
    {"e8m23fn", "the formats without INF are"},
    {"e04m3fn", "not a format"},
    {"fp16fn", "not a format"},
    {"-sat", "not a format"},
    {"e4m3sat", "not a format"},
    {"e4m3-", "not a format"},
    {"e4m3-SAT", "not a format"},
    {"e4m3-sat-sat", "not a format"},
    {"e4m3-satfn", "not a format"},
    {"e9m3-sat", "format 'e9m3-sat': exponent bits must be 1 to 8"},
    {"e9m3fn", "exponent bits must be 1 to 8"},
    {"e05m2", "not a format"},
    {"e5m02", "not a format"},
    {"e5m00", "not a format"},
    {"e+5m2", "not a format"},
    {"e-5m2", "not a format"},
    {"e5m-2", "not a format"},
    {"E5M2", "not a format"},
    {"FP32", "not a format"},
    {"fp8", "not a format"},
    {"fp32 ", "not a format"},
    {"float", "not a format"},
    {"e0m3", "format 'e0m3': exponent bits must be 1 to 8"},
    {"e9m2", "format 'e9m2': wider than FP32, for rules with types"},
    {"e10m2", "wider than FP32, for rules with types: double"},
    {"e4294967301m2", "exponent bits must be 1 to 8"},
    {"e4m24", "format 'e4m24': wider than FP32"},
    {"e4m99999999999999999999", "mantissa bits must be 0 to 23"},
    {"float", "formats are eEmM (e5m2, e4m3, ...), fp32, tf32, fp16, bf16, "
              "e4m3fn, e3m2fn, e2m3fn, e2m1fn, bfpM/B (bfp7/64, hbfp8/576, "
              "...), mx-e5m2, mx-e4m3fn, mx-e3m2fn, mx-e2m3fn, mx-e2m1fn, "
              "mx-int8, nvfp4, qsgdS/B, qsgdS/B-l2 (qsgd7/512, ...), "
              "intB/BUCKET (int8/512, ...), sign/B (sign/512, ...) and flex8, "
              "flex16"},
    {"bfp", "not a format"},
    {"bfp/64", "not a format"},
    {"bfp07/64", "not a format"},
    {"bfp7", "format 'bfp7': how many values share an exponent is missing: "
             "bfp7/64"},
    {"bfp7/", "bfpM/B is written with two numbers: bfp7/64"},
    {"bfp7/64/2", "is written with two numbers"},
    {"bfp7/064", "is written with two numbers"},
    {"bfp7-64", "is written with two numbers"},
    {"bfp7/64-sat", "leave out '-sat'"},
    {"bfp7/65-sat", "is written with two numbers"},
    {"bfp0/64", "format 'bfp0/64': bfp's bits must be 1 to 24"},
    {"bfp25/64", "bfp's bits must be 1 to 24"},
    {"hbfp1/64", "hbfp's bits must be 2 to 25"},
    {"hbfp26/64", "hbfp's bits must be 2 to 25"},
    {"hbfp0/64", "hbfp's bits must be 2 to 25"},
    {"bfp4294967303/64", "bfp's bits must be 1 to 24"},
    {"bfp7/0", "a block must have 2 to 4096 values, not 0"},
    {"bfp7/1", "a block must have 2 to 4096 values, not 1"},
    {"bfp7/4097", "a block must have 2 to 4096 values, not 4097"},
    {"bfp7/4294967360", "a block must have 2 to 4096 values"},
    {"bfp7/65", "blocks of 65 values end at a multiple of 64 values only every "
                "4160: it must be at most 4096"},
    {"bfp7/4095", "only every 262080"},
    {"qsgd", "not a format"},
    {"int", "not a format"},
    {"int08/64", "not a format"},
    {"qsgd7", "format 'qsgd7': how many values share a scale is missing: "
              "qsgd7/512"},
    {"int8", "format 'int8': how many values share a scale is missing: "
             "int8/512"},
    {"sign", "format 'sign': how many values share a scale is missing: "
             "sign/512"},
    {"qsgd0/64", "format 'qsgd0/64': qsgd's levels must be 1 to 32767"},
    {"qsgd32768/64", "qsgd's levels must be 1 to 32767"},
    {"int1/64", "format 'int1/64': int's bits, the sign included, must be 2 to "
                "16"},
    {"int17/64", "int's bits, the sign included, must be 2 to 16"},
    {"int8/1", "a block must have 2 to 4096 values, not 1"},
    {"qsgd7/8192", "a block must have 2 to 4096 values, not 8192"},
    {"sign/65", "only every 4160: it must be at most 4096"},
    {"int8/64-l2", "format 'int8/64-l2': intB/BUCKET is written with two "
                   "numbers: int8/512"},
    {"qsgd7/64-l1", "format 'qsgd7/64-l1': qsgdS/B, or qsgdS/B-l2, is written "
                    "with two numbers: qsgd7/512"},
    {"qsgd7/", "is written with two numbers"},
    {"sign/", "format 'sign/': sign/B is written with a number: sign/512"},
    {"sign/64x", "sign/B is written with a number"},
    {"mx-", "format 'mx-': the MX formats are mx-e5m2, mx-e4m3fn,"},
    {"mx-e4m3", "did you mean 'mx-e4m3fn'? The MX formats are"},
    {"mx-e5m2-sat", "leave out '-sat'"},
    {"mx-e8m23", "the MX formats are"},
    {"mx-int8/32", "the MX formats are"},
    {"mxint8", "not a format"},
    {"nvfp4/16", "not a format"},
    {"nvfp8", "not a format"},
    {"flex", "not a format"},
    {"flex0", "format 'flex0': the formats of integers are flex8 and flex16"},
    {"flex32", "the formats of integers are flex8 and flex16"},
    {"flex016", "not a format"},
    {"flex8+5", "not a format"},
    {"flex16-sat", "leave out '-sat'"},
};

static const struct {
    const char *name;
    const char *canonical;
    int exponent_bits, mantissa_bits, bias;
    double max, min_normal, min_positive;
} good[] = {
    {"e4m3", "e4m3", 4, 3, 7, 240, 0x1p-6, 0x1p-9},
    {"e5m2", "e5m2", 5, 2, 15, 57344, 0x1p-14, 0x1p-16},
    {"e3m0", "e3m0", 3, 0, 3, 8, 0.25, 0.25},
    {"e3m2", "e3m2", 3, 2, 3, 14, 0.25, 0.0625},
    {"e2m1", "e2m1", 2, 1, 1, 3, 1, 0.5},
    {"e2m0", "e2m0", 2, 0, 1, 2, 1, 1},
    {"e1m0", "e1m0", 1, 0, 0, 0, 2, 0},
    {"e1m1", "e1m1", 1, 1, 0, 1, 2, 1},
    {"e1m3", "e1m3", 1, 3, 0, 1.75, 2, 0.25},
    {"e1m23", "e1m23", 1, 23, 0, 2 - 0x1p-22, 2, 0x1p-22},
    {"e7m0", "e7m0", 7, 0, 63, 0x1p63, 0x1p-62, 0x1p-62},
    {"e8m0", "e8m0", 8, 0, 127, 0x1p127, 0x1p-126, 0x1p-126},
    {"e8m23", "e8m23", 8, 23, 127, 0x1.fffffep127, 0x1p-126, 0x1p-149},
    {"fp32", "e8m23", 8, 23, 127, 0x1.fffffep127, 0x1p-126, 0x1p-149},
    {"tf32", "e8m10", 8, 10, 127, 0x1.ffcp127, 0x1p-126, 0x1p-136},
    {"fp16", "e5m10", 5, 10, 15, 65504, 0x1p-14, 0x1p-24},
    {"bf16", "e8m7", 8, 7, 127, 0x1.fep127, 0x1p-126, 0x1p-133},
    {"e4m3fn", "e4m3fn", 4, 3, 7, 448, 0x1p-6, 0x1p-9},
    {"e4m3fn-sat", "e4m3fn-sat", 4, 3, 7, 448, 0x1p-6, 0x1p-9},
    {"e3m2fn", "e3m2fn", 3, 2, 3, 28, 0.25, 0.0625},
    {"e2m3fn", "e2m3fn", 2, 3, 1, 7.5, 1, 0.125},
    {"e2m1fn", "e2m1fn", 2, 1, 1, 6, 1, 0.5},
    {"e2m1fn-sat", "e2m1fn", 2, 1, 1, 6, 1, 0.5},
    {"e5m2-sat", "e5m2-sat", 5, 2, 15, 57344, 0x1p-14, 0x1p-16},
    {"fp16-sat", "e5m10-sat", 5, 10, 15, 65504, 0x1p-14, 0x1p-24},
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct aps_format format, before;
        struct aps_error error = {.line = 0};

        memset(&format, 0x5a, sizeof format);
        before = format;
        errno = 0;
        bool refused = aps_format_parse(bad[i].name, &format, &error) == -1;

        if (!ok(refused && errno == EINVAL &&
                    strstr(error.text, bad[i].cause) &&
                    memcmp(&format, &before, sizeof format) == 0,
                "'%s' is refused, nothing written",
                bad[i].name ? bad[i].name : "(null)"))
            diag("message: %s", error.text);
    }
    ok(aps_format_parse("e9m9", &(struct aps_format){.width = 0}, NULL) == -1,
       "the error argument is optional");
}

static void test_good(void)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct aps_format f;
        struct aps_error error = {.line = 0};

        if (!ok(aps_format_parse(good[i].name, &f, &error) == 0, "'%s' parses",
                good[i].name)) {
            diag("message: %s", error.text);
            continue;
        }
        is(f.name, good[i].canonical, "%s: name", good[i].name);
        ok(f.exponent_bits == good[i].exponent_bits &&
               f.mantissa_bits == good[i].mantissa_bits &&
               f.width == 1 + f.exponent_bits + f.mantissa_bits &&
               f.bias == good[i].bias &&
               (f.kind != APS_FORMAT_IEEE) == !!strstr(f.name, "fn") &&
               f.saturate ==
                   (f.kind == APS_FORMAT_FINITE || !!strstr(f.name, "-sat")),
           "%s: bits", good[i].name);
        ok(aps_format_max(&f) == good[i].max, "%s: max %g", good[i].name,
           aps_format_max(&f));
        ok(aps_format_min_normal(&f) == good[i].min_normal, "%s: min normal %g",
           good[i].name, aps_format_min_normal(&f));
        ok(aps_format_min_positive(&f) == good[i].min_positive,
           "%s: min positive %g", good[i].name, aps_format_min_positive(&f));
    }
}

/* Formats in which a block or the scale has the exponent. */
static const struct {
    const char *name, *canonical;
    int exponent_bits, mantissa_bits, block;
    double max, min_normal, min_positive, bits;
    int upper;
    size_t granule;
} shared[] = {
    {"bfp7/64", "bfp7/64", 0, 7, 64, 127. / 128, 1, 0x1p-7, 8.125, 0, 64},
    {"hbfp8/64", "bfp7/64", 0, 7, 64, 127. / 128, 1, 0x1p-7, 8.125, 0, 64},
    {"hbfp8/576", "bfp7/576", 0, 7, 576, 127. / 128, 1, 0x1p-7, 8 + 8. / 576, 0,
     576},
    {"hbfp4/64", "bfp3/64", 0, 3, 64, 7. / 8, 1, 0x1p-3, 4.125, 0, 64},
    {"bfp1/2", "bfp1/2", 0, 1, 2, 0.5, 1, 0.5, 8, 0, 64},
    {"bfp4/7", "bfp4/7", 0, 4, 7, 15. / 16, 1, 0x1p-4, 48. / 7, 0, 448},
    {"bfp24/4096", "bfp24/4096", 0, 24, 4096, 1 - 0x1p-24, 1, 0x1p-24,
     25 + 8. / 4096, 0, 4096},
    {"mx-e5m2", "mx-e5m2", 5, 2, 32, 57344, 0x1p-14, 0x1p-16, 8.25, 0, 64},
    {"mx-e4m3fn", "mx-e4m3fn", 4, 3, 32, 448, 0x1p-6, 0x1p-9, 8.25, 0, 64},
    {"mx-e3m2fn", "mx-e3m2fn", 3, 2, 32, 28, 0.25, 0.0625, 6.25, 0, 64},
    {"mx-e2m3fn", "mx-e2m3fn", 2, 3, 32, 7.5, 1, 0.125, 6.25, 0, 64},
    {"mx-e2m1fn", "mx-e2m1fn", 2, 1, 32, 6, 1, 0.5, 4.25, 0, 64},
    {"mx-int8", "mx-int8", 0, 7, 32, 127. / 64, 2, 0x1p-6, 8.25, 0, 64},
    {"nvfp4", "nvfp4", 2, 1, 16, 6, 1, 0.5, 4.5, 0, 64},
    {"qsgd1/128", "qsgd1/128", 0, 1, 128, 1, 1, 1, 2.25, 0, 128},
    {"qsgd7/512", "qsgd7/512", 0, 3, 512, 1, 1, 1. / 7, 4.0625, 0, 512},
    {"qsgd127/512-l2", "qsgd127/512-l2", 0, 7, 512, 1, 1, 1. / 127, 8.0625, 0,
     512},
    {"qsgd16/64", "qsgd16/64", 0, 5, 64, 1, 1, 1. / 16, 6.5, 0, 64},
    {"int8/512", "int8/512", 0, 7, 512, 1, 1, 1. / 127, 8.0625, 0, 512},
    {"int2/64", "int2/64", 0, 1, 64, 1, 1, 1, 2.5, 0, 64},
    {"sign/64", "sign/64", 0, 0, 64, 1, 1, 1, 1.5, 0, 64},
    {"flex16", "flex16", 0, 15, 1, 32767, 32768, 1, 16, 14, 64},
    {"flex16+5", "flex16", 0, 15, 1, 32767, 32768, 1, 16, 14, 64},
    {"flex8", "flex8", 0, 7, 1, 127, 128, 1, 8, 6, 64},
    {"e4m3", "e4m3", 4, 3, 1, 240, 0x1p-6, 0x1p-9, 8, 7, 64},
};

static void test_shared(void)
{
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        const char *name = shared[i].name;
        const bool blocks = shared[i].block > 1;
        struct aps_error error = {.line = 0};
        struct aps_format f;

        if (!ok(aps_format_parse(name, &f, &error) == 0, "'%s' parses", name)) {
            diag("message: %s", error.text);
            continue;
        }
        is(f.name, shared[i].canonical, "%s: name", name);
        ok(f.exponent_bits == shared[i].exponent_bits &&
               f.mantissa_bits == shared[i].mantissa_bits &&
               f.width == 1 + f.exponent_bits + f.mantissa_bits,
           "%s: bits", name);
        ok(f.block == shared[i].block && f.self_scaled == blocks &&
               f.scale_bytes == (f.levels > 0 ? 4 : blocks) &&
               f.piece_bytes == (strcmp(name, "nvfp4") == 0 ? 4 : 0) &&
               aps_format_granule(&f) == shared[i].granule,
           "%s: blocks of %d, cut every %zu", name, f.block,
           aps_format_granule(&f));
        ok(aps_format_bits(&f) == shared[i].bits, "%s: %.9g bits a value", name,
           aps_format_bits(&f));
        ok((double)aps_format_max(&f) == shared[i].max &&
               aps_format_min_normal(&f) == shared[i].min_normal &&
               aps_format_min_positive(&f) == shared[i].min_positive,
           "%s: range", name);
        ok(f.upper == shared[i].upper, "%s: U is %d", name, f.upper);
        ok(aps_format_has_nan(&f) == (strncmp(name, "flex", 4) != 0) &&
               aps_format_has_inf(&f) == (strcmp(name, "e4m3") == 0) &&
               f.marks == (strncmp(name, "flex", 4) == 0),
           "%s: INF and NaN", name);
    }
}

/* Integers: rounded to nearest even, clipped. */
static void test_integers(void)
{
    static const struct {
        const char *name;
        float x;
        uint32_t code;
        float value;
    } table[] = {
        {"flex16", 0, 0, 0},
        {"flex16", -0.f, 0, 0},
        {"flex16", 0.5f, 0, 0},
        {"flex16", 0.51f, 1, 1},
        {"flex16", 1.5f, 2, 2},
        {"flex16", 2.5f, 2, 2},
        {"flex16", -0.5f, 0, 0},
        {"flex16", -1.5f, 0xfffe, -2},
        {"flex16", 32767, 0x7fff, 32767},
        {"flex16", 32767.5f, 0x7fff, 32767},
        {"flex16", -32767, 0x8001, -32767},
        {"flex16", -32768, 0x8000, -32768},
        {"flex16", -32769, 0x8000, -32768},
        {"flex16", 1e30f, 0x7fff, 32767},
        {"flex16", INFINITY, 0x7fff, 32767},
        {"flex16", -INFINITY, 0x8000, -32768},
        {"flex16", NAN, 0x7fff, 32767},
        {"flex16", 0x1p-149f, 0, 0},
        {"flex8", 126.5f, 0x7e, 126},
        {"flex8", 127.4f, 0x7f, 127},
        {"flex8", 127.5f, 0x7f, 127},
        {"flex8", -127.5f, 0x80, -128},
        {"flex8", -1, 0xff, -1},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct aps_format f;

        if (aps_format_parse(table[i].name, &f, NULL) < 0)
            bail_out("%s does not parse", table[i].name);
        uint32_t code = aps_encode(&f, table[i].x);
        float value = aps_decode(&f, code);

        ok(code == table[i].code && value == table[i].value &&
               !signbit(value) == (table[i].value >= 0),
           "%s: %g is 0x%04x, %g", f.name, (double)table[i].x, code,
           (double)value);
    }
}

/* Values at and beyond the ends of the formats that differ from eEmM. */
static void test_ends(void)
{
    static const struct {
        const char *name;
        float x;
        uint32_t code;
    } table[] = {
        {"e4m3fn", 448, 0x7e},        {"e4m3fn", 464, 0x7e},
        {"e4m3fn", 464.5f, 0x7f},     {"e4m3fn", -1e30f, 0xff},
        {"e4m3fn", INFINITY, 0x7f},   {"e4m3fn", NAN, 0x7f},
        {"e4m3fn", 240, 0x77},        {"e4m3fn", 256, 0x78},
        {"e4m3fn-sat", 464.5f, 0x7e}, {"e4m3fn-sat", -INFINITY, 0xfe},
        {"e4m3fn-sat", NAN, 0x7f},    {"e5m2-sat", 61440, 0x7b},
        {"e5m2-sat", INFINITY, 0x7b}, {"e5m2-sat", -NAN, 0xfe},
        {"e3m0-sat", 12, 0x6},        {"e3m0-sat", NAN, 0x7},
        {"e2m1fn", 6, 0x7},           {"e2m1fn", 5, 0x6},
        {"e2m1fn", 5.01f, 0x7},       {"e2m1fn", -1000, 0xf},
        {"e2m1fn", INFINITY, 0x7},    {"e2m1fn", -NAN, 0xf},
        {"e2m1fn", 0.25f, 0x0},       {"e2m1fn", 0.26f, 0x1},
        {"e3m2fn", 28, 0x1f},         {"e3m2fn", 29.9f, 0x1f},
        {"e3m2fn", -INFINITY, 0x3f},  {"e2m3fn", 7.5f, 0x1f},
        {"e2m3fn", 1e-30f, 0},        {"e2m3fn", NAN, 0x1f},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct aps_format f;

        if (aps_format_parse(table[i].name, &f, NULL) < 0)
            bail_out("%s does not parse", table[i].name);
        uint32_t code = aps_encode(&f, table[i].x);

        ok(code == table[i].code, "%s: %g is 0x%02x", f.name,
           (double)table[i].x, code);
    }
}

static void test_all(void)
{
    int parsed = 0;

    for (int e = 1; e <= 8; e++) {
        for (int m = 0; m <= 23; m++) {
            char name[32];
            struct aps_format f;

            snprintf(name, sizeof name, "e%dm%d", e, m);
            if (aps_format_parse(name, &f, NULL) == 0 &&
                strcmp(f.name, name) == 0 && f.exponent_bits == e &&
                f.mantissa_bits == m)
                parsed++;
        }
    }
    ok(parsed == 192, "all 192 formats parse to themselves");
}

int main(void)
{
    test_bad();
    test_good();
    test_shared();
    test_integers();
    test_ends();
    test_all();
    return done_testing();
}
