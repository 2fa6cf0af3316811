/* SPDX-License-Identifier: BSD-3-Clause */
/* The arrays of aps.h: errors, and equality with the casts of their elements. */
#include "config.h"

#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "number/format.h"
#include "number/parse.h"
#include "unit/common/formats.h"
#include "number/bits.h"
#include "number/cast.h"
#include "number/cpd.h"
#include "number/draw.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define N 3000

/* The call failed with EINVAL and this text; clears the error. */
static void refused(int result, struct aps_error *error, const char *text)
{
    if (!ok(result == -1 && errno == EINVAL && strstr(error->text, text),
            "refused: %s", text))
        diag("%d, errno %d: %s", result, errno, error->text);
    errno = 0;
    *error = (struct aps_error){.line = 0};
}

static void test_bad(void)
{
    struct aps_cast_options unknown = {.size = sizeof unknown,
                                       .rounding = (enum aps_rounding)5};
    struct aps_cast_options none = {.size = sizeof none,
                                    .rounding = APS_ROUND_CORRELATED,
                                    .rank = 3,
                                    .ranks = 3};
    struct aps_cast_options many = {.size = sizeof many,
                                    .rounding = APS_ROUND_CORRELATED,
                                    .ranks = (1 << 18) + 1};
    struct aps_cast_options cpd = {.size = sizeof cpd,
                                   .rounding = APS_ROUND_CPD};
    struct aps_format f, fn;
    struct aps_error e = {.line = 0};
    float x[2] = {1, 2}, y[2] = {7, 7};
    uint8_t wire[2] = {7, 7};
    size_t negative = (size_t)-1;

    aps_format_parse("e4m3", &f, NULL);
    aps_format_parse("e4m3fn", &fn, NULL);
    refused(aps_cast_array(&f, NULL, 2, NULL, y, &e), &e,
            "aps_cast_array: x is NULL for 2 elements");
    refused(aps_cast_array(&f, x, 2, NULL, NULL, &e), &e, "y is NULL for 2");
    refused(aps_cast_array(&f, x, negative, NULL, y, &e), &e, "negative");
    refused(aps_cast_array(NULL, x, 2, NULL, y, &e), &e, "format is NULL");
    refused(aps_cast_array(&f, x, 2, &unknown, y, &e), &e,
            "there is no rounding 5");
    refused(aps_cast_array(&fn, x, 2, &cpd, y, &e), &e,
            "cpd rounds to formats eEmM, not to 'e4m3fn'");
    refused(aps_cast_array(&f, x, 2, &none, y, &e), &e,
            "rank is 3 and must be less than ranks, 3");
    refused(aps_encode_array(&f, x, 2, &many, wire, &e), &e,
            "ranks is 262145; correlated rounding supports at most");
    refused(aps_encode_array(&f, NULL, 2, NULL, wire, &e), &e, "x is NULL");
    refused(aps_encode_array(&f, x, 2, NULL, NULL, &e), &e, "packed is NULL");
    refused(aps_encode_array(&f, x, 2, &unknown, wire, &e), &e, "rounding 5");
    refused(aps_encode_array(&f, x, negative, NULL, wire, &e), &e, "negative");
    refused(aps_decode_array(&f, NULL, 2, NULL, y, &e), &e, "packed is NULL");
    refused(aps_decode_array(&f, wire, 2, NULL, NULL, &e), &e, "x is NULL");
    refused(aps_decode_array(&f, wire, negative, NULL, y, &e), &e, "negative");
    ok(y[0] == 7 && y[1] == 7 && wire[0] == 7 && wire[1] == 7,
       "nothing was written");
    ok(aps_cast_array(&f, NULL, 0, NULL, NULL, NULL) == 0 &&
           aps_encode_array(&f, NULL, 0, NULL, NULL, NULL) == 0 &&
           aps_decode_array(&f, NULL, 0, NULL, NULL, NULL) == 0,
       "NULL without elements is right");
    ok(aps_cast_array(&f, NULL, 2, NULL, y, NULL) == -1,
       "the error argument is optional");
}

static uint32_t code_of(const struct aps_format *f, float x,
                        const struct aps_cast_options *options, size_t i)
{
    const struct aps_draw draw = aps_draw_init(options);
    uint32_t bits = aps_float_bits(x);

    if (options->rounding == APS_ROUND_CPD)
        return aps_cast_encode(f, aps_cpd_cast(f, bits), 0);
    return aps_cast_round(f, bits, 0, options->rounding,
                          aps_draw_element(&draw, options->offset + i));
}

static void test_format(const struct aps_format *f)
{
    static float x[N], y[N], values[N];
    static uint8_t wire[4 * N], expected[4 * N];

    for (size_t i = 0; i < N; i++)
        x[i] = random_value(f, 0);
    for (enum aps_rounding r = APS_ROUND_NEAREST; r <= APS_ROUND_CORRELATED;
         r++) {
        struct aps_cast_options options = {.size = sizeof options,
                                           .rounding = r,
                                           .seed = 3,
                                           .offset = 5,
                                           .rank = 2,
                                           .ranks = 5};
        bool pass = true;

        if (r == APS_ROUND_CPD && (f->kind != APS_FORMAT_IEEE || f->saturate))
            continue;
        memset(expected, 0, sizeof expected);
        for (size_t i = 0; i < N; i++)
            wire_put(expected, i, f->width, code_of(f, x[i], &options, i));
        memcpy(y, x, sizeof y);
        pass = aps_encode_array(f, x, N, &options, wire, NULL) == 0 &&
               memcmp(wire, expected, aps_packed_bytes(f, N)) == 0 &&
               aps_decode_array(f, wire, N, NULL, values, NULL) == 0 &&
               aps_cast_array(f, y, N, &options, y, NULL) == 0;
        for (size_t i = 0; i < N; i++) {
            uint32_t value =
                aps_float_bits(aps_decode(f, wire_get(wire, i, f->width)));
            uint32_t cast = r == APS_ROUND_CPD
                                ? aps_cpd_cast(f, aps_float_bits(x[i]))
                                : value;

            pass = pass && aps_float_bits(values[i]) == value &&
                   aps_float_bits(y[i]) == cast;
        }
        ok(pass, "%s: rounding %d of an array", f->name, (int)r);
    }
}

/* The bits do not depend on the cuts of an array, and differ for every other key. */
static void test_key(void)
{
    static float x[N], whole[N], parts[N], other[N];
    struct aps_cast_options options = {.size = sizeof options,
                                       .rounding = APS_ROUND_STOCHASTIC,
                                       .layer = 1,
                                       .step = 2,
                                       .seed = 3,
                                       .offset = 4};
    struct aps_format f;

    aps_format_parse("e5m2", &f, NULL);
    for (int i = 0; i < N; i++)
        x[i] = 1.1f;
    aps_cast_array(&f, x, N, &options, whole, NULL);
    for (size_t i = 0, part = 1; i < N; i += part, part = part % 97 + 3) {
        struct aps_cast_options here = options;
        size_t count = part < N - i ? part : N - i;

        here.offset += i;
        aps_cast_array(&f, x + i, count, &here, parts + i, NULL);
    }
    ok(memcmp(whole, parts, sizeof whole) == 0,
       "stochastic: the same bits in parts");

    struct aps_cast_options changed[6] = {options, options, options,
                                          options, options, options};
    changed[0].layer++;
    changed[1].step++;
    changed[2].seed += 1ull << 32;
    changed[3].offset++;
    changed[4].stage++;
    changed[5].rank++;
    for (int i = 0; i < 6; i++) {
        aps_cast_array(&f, x, N, &changed[i], other, NULL);
        ok(memcmp(whole, other, sizeof whole) != 0,
           "stochastic: other bits for another key %d", i);
    }
}

static void test_environment(void)
{
    float x[] = {1.1f, 0x1p-140f}, y[2];
    struct aps_format f;

    aps_format_parse("e8m7", &f, NULL);
    fesetround(FE_UPWARD);
    aps_cast_array(&f, x, 2, NULL, y, NULL);
    ok(fegetround() == FE_UPWARD && y[0] == 0x1.1ap0f && y[1] == 0,
       "the caller's rounding direction neither matters nor changes");
    fesetround(FE_TONEAREST);
}

int main(void)
{
    struct aps_format f;

    test_bad();
    for (int i = 0; format_at(i, &f); i++)
        test_format(&f);
    test_key();
    test_environment();
    return done_testing();
}
