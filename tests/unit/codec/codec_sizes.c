/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of values, the values that fit in bytes, and the places where
 * packed values may be cut. */
#include "config.h"

#include "codec/codec.h"

#include <stdint.h>
#include <stdio.h>

#include "number/parse.h"
#include "tests/tap/tap.h"

static const size_t sizes[] = {0,    1,    15,    16,     63,     64,
                               127,  128,  255,   256,    257,    1000,
                               1024, 4096, 16384, 100000, 131072, 999999999};
#define SIZES (sizeof sizes / sizeof *sizes)

/* True if elements(bytes) is the greatest multiple of the granule that fits. */
static bool is_greatest(const struct aps_codec *codec, size_t bytes)
{
    const size_t granule = aps_codec_granule(codec);
    const size_t n = aps_codec_elements(codec, bytes);

    if (n % granule == 0 && aps_codec_bytes(codec, n) <= bytes &&
        aps_codec_bytes(codec, n + granule) > bytes)
        return true;
    diag("%s: %zu bytes hold %zu values, granule %zu", codec->format.name,
         bytes, n, granule);
    return false;
}

/* Like is_greatest, but a format of one bit has no more than one of two bits. */
static bool is_most(const struct aps_codec *codec, size_t bytes)
{
    const size_t granule = aps_codec_granule(codec);
    const size_t most = aps_codec_elements_max(bytes) / granule * granule;

    return aps_codec_elements(codec, bytes) == most
               ? aps_codec_bytes(codec, most) <= bytes
               : is_greatest(codec, bytes);
}

/* Two pieces, cut at a granule, have as many bytes as the whole. */
static bool is_cut(const struct aps_codec *codec)
{
    const size_t granule = aps_codec_granule(codec);
    bool cut = true;

    for (size_t k = 1; k <= 3; k++)
        for (size_t rest = 0; rest <= granule; rest++)
            cut &= aps_codec_bytes(codec, k * granule) +
                       aps_codec_bytes(codec, rest) ==
                   aps_codec_bytes(codec, k * granule + rest);
    return cut;
}

static void test_floats(void)
{
    bool granules = true, greatest = true, same = true, fewer = true;

    for (int e = 1; e <= 8; e++) {
        for (int m = 0; m <= 23; m++) {
            struct aps_codec codec = {0};
            char name[16];

            snprintf(name, sizeof name, "e%dm%d", e, m);
            if (aps_format_parse(name, &codec.format, NULL) < 0)
                bail_out("%s is no format", name);
            granules &= aps_codec_granule(&codec) == 64 && is_cut(&codec);
            for (size_t i = 0; i < SIZES; i++) {
                const size_t bytes = sizes[i];
                const size_t n = aps_codec_elements(&codec, bytes);

                greatest &= is_greatest(&codec, bytes);
                same &= n == bytes * 8 / (size_t)(1 + e + m) / 64 * 64;
                fewer &= n <= aps_codec_elements_max(bytes);
            }
        }
    }
    ok(granules, "a format without blocks is cut at 64 values");
    ok(greatest, "the most values that fit are a multiple of 64");
    ok(same, "they are as many as their bits say");
    ok(fewer, "no format has more than aps_codec_elements_max");
}

static void test_bounds(void)
{
    struct aps_codec wide = {0}, narrow = {0};
    bool fp32 = true, most = true;

    if (aps_format_parse("e8m23", &wide.format, NULL) < 0 ||
        aps_format_parse("e1m0", &narrow.format, NULL) < 0)
        bail_out("e8m23 or e1m0 is no format");
    for (size_t i = 0; i < SIZES; i++) {
        fp32 &= aps_codec_elements_fp32(&narrow, sizes[i]) ==
                aps_codec_elements(&wide, sizes[i]);
        most &= aps_codec_elements_max(sizes[i]) ==
                aps_codec_elements(&narrow, sizes[i]);
    }
    ok(fp32, "as many FP32 values as of e8m23");
    ok(most, "e1m0 is the format that has most");
}

/* Blocks and bytes are not divided. */
static void test_blocks(void)
{
    static const struct {
        struct aps_format format;
        size_t granule;
    } cases[] = {
        {{.name = "8/32", .width = 8, .block = 32, .scale_bytes = 1}, 64},
        {{.name = "6/32", .width = 6, .block = 32, .scale_bytes = 1}, 64},
        {{.name = "4/16", .width = 4, .block = 16, .scale_bytes = 1}, 64},
        {{.name = "8/64", .width = 8, .block = 64, .scale_bytes = 1}, 64},
        {{.name = "4/128", .width = 4, .block = 128, .scale_bytes = 1}, 128},
        {{.name = "8/576", .width = 8, .block = 576, .scale_bytes = 1}, 576},
        {{.name = "5/20", .width = 5, .block = 20, .scale_bytes = 2}, 320},
        {{.name = "3/7", .width = 3, .block = 7, .scale_bytes = 1}, 448},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct aps_codec codec = {.format = cases[i].format};
        bool greatest = true, fp32 = true;

        for (size_t k = 0; k < SIZES; k++) {
            const size_t n = aps_codec_elements_fp32(&codec, sizes[k]);

            greatest &= is_greatest(&codec, sizes[k]);
            fp32 &= n % cases[i].granule == 0 && 4 * n <= sizes[k] &&
                    4 * (n + cases[i].granule) > sizes[k];
        }
        ok(aps_codec_granule(&codec) == cases[i].granule && is_cut(&codec),
           "%s is cut at %zu values", codec.format.name, cases[i].granule);
        ok(greatest, "... and what fits is a multiple of that");
        ok(fp32, "... of FP32, too");
    }
}

/* All bfp formats, and the other block formats. */
static void test_named(void)
{
    static const char *const names[] = {"mx-e5m2",   "mx-e4m3fn", "mx-e3m2fn",
                                        "mx-e2m3fn", "mx-e2m1fn", "mx-int8",
                                        "flex8",     "flex16"};
    struct aps_codec codec = {0};
    bool right = true;
    int formats = 0;

    for (int m = 1; m <= 24; m++) {
        for (int b = 2; b <= 4096; b = b < 130 ? b + 1 : b + 31) {
            char name[24];

            snprintf(name, sizeof name, "bfp%d/%d", m, b);
            if (aps_format_parse(name, &codec.format, NULL) < 0)
                continue;
            formats++;
            for (size_t k = 0; k < SIZES; k++)
                right &= is_greatest(&codec, sizes[k]) &&
                         aps_codec_elements(&codec, sizes[k]) <=
                             aps_codec_elements_max(sizes[k]);
            right &= aps_codec_granule(&codec) <= 4096 && is_cut(&codec);
        }
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (aps_format_parse(names[i], &codec.format, NULL) < 0)
            bail_out("%s is no format", names[i]);
        right &= aps_codec_granule(&codec) == 64 && is_cut(&codec);
    }
    for (int b = 64; b <= 4096; b += 64) {
        for (int s = 0; s <= 32767; s = 2 * s + 1) {
            char name[24];

            snprintf(name, sizeof name, s > 0 ? "qsgd%d/%d" : "sign/%d",
                     s > 0 ? s : b, b);
            if (aps_format_parse(name, &codec.format, NULL) < 0)
                continue;
            for (size_t k = 0; k < SIZES; k++)
                right &= is_most(&codec, sizes[k]);
            right &= aps_codec_granule(&codec) == (size_t)b && is_cut(&codec);
        }
    }
    ok(right && formats > 1000, "%d formats bfpM/B, mx and flex", formats);
    if (aps_format_parse("nvfp4", &codec.format, NULL) < 0)
        bail_out("nvfp4 is no format");
    ok(aps_codec_bytes(&codec, 0) == 0 && aps_codec_bytes(&codec, 1) == 6 &&
           aps_codec_bytes(&codec, 16) == 13 &&
           aps_codec_bytes(&codec, 17) == 15 &&
           aps_codec_bytes(&codec, 160) == 94,
       "nvfp4: each piece has four bytes of its own");
    for (size_t i = 0; i < SIZES; i++)
        right &= is_greatest(&codec, sizes[i]);
    ok(right, "... which the values that fit leave room for");
}

int main(void)
{
    test_floats();
    test_bounds();
    test_blocks();
    test_named();
    return done_testing();
}
