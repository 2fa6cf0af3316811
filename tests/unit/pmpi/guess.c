/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks whose scale is guessed from what lay at their place before: the bytes are
 * those of a block that nobody has guessed, whether the guess is right or not.
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/memory.h"
#include "number/draw.h"
#include "block/block.h"
#include "scale/scale.h"
#include "tests/tap/tap.h"

#define COUNT 9001 /* more than two tiles, and a rest */

#define RECURRED 5 /* steps with one scale, after which it is guessed */

static float values[2 * COUNT];
static unsigned char block[COUNT * 4 + 64], expected[COUNT * 4 + 64];

/* The codec's own, counted. */
static bool (*search)(const struct aps_codec *, const float *, size_t,
                      struct aps_scaling, void *, struct aps_magnitude *);
static int searches, encodes;
static unsigned (*encode)(const struct aps_codec *, const float *, size_t,
                          struct aps_scaling, const struct aps_cast_options *,
                          void *);

static bool count_search(const struct aps_codec *codec, const float *x,
                         size_t n, struct aps_scaling scaling, void *wire,
                         struct aps_magnitude *magnitude)
{
    searches++;
    return search(codec, x, n, scaling, wire, magnitude);
}

static unsigned count_encode(const struct aps_codec *codec, const float *x,
                             size_t n, struct aps_scaling scaling,
                             const struct aps_cast_options *options, void *wire)
{
    encodes++;
    return encode(codec, x, n, scaling, options, wire);
}

static uint32_t draw(void)
{
    static uint32_t state = 7;

    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Below 2^exponent; the greatest is that. */
static void fill(float *x, int exponent)
{
    for (size_t i = 0; i < COUNT; i++)
        x[i] = ldexpf((float)draw() * 0x1p-24f, exponent - (int)(draw() % 20)) *
               (draw() % 2 ? 1 : -1);
    x[COUNT - 2] = -ldexpf(1, exponent);
}

static struct aps_wire wire_of(const char *format, enum aps_scale_kind scale,
                               enum aps_rounding rounding)
{
    struct aps_wire wire = {.memory = &aps_memory_host,
                            .scale = {.kind = scale},
                            .rounding = rounding};

    aps_codec_init(aps_format_get(format, NULL), &wire.codec);
    search = wire.codec.encode_search;
    encode = wire.codec.encode;
    if (search)
        wire.codec.encode_search = count_search;
    wire.codec.encode = count_encode;
    return wire;
}

/* Encode x[COUNT]: the bytes, beside those that follow from the search. */
static bool encodes_alike(const struct aps_wire *wire, const float *x)
{
    const struct aps_origin origin = {.ranks = 1};
    const struct aps_cast_options options = aps_block_options(wire, &origin);
    const size_t bytes = aps_block_bytes(wire, COUNT);
    const struct aps_block_draft draft =
        aps_block_draft_of(wire, aps_magnitude_of(x, COUNT), 0, NULL);
    const unsigned flags =
        encode(&wire->codec, x, COUNT, draft.scaling, &options,
               expected + aps_block_header_bytes(wire));
    int exponent;

    aps_block_write_header(wire, &draft, flags, expected);
    memset(block, 0x55, sizeof block);
    exponent =
        aps_block_encode(wire, &origin, &aps_memory_host, x, COUNT, 0, block);
    return exponent == draft.exponent && memcmp(block, expected, bytes) == 0 &&
           block[bytes] == 0x55;
}

static void test_bytes(const char *format)
{
    const struct aps_wire wire =
        wire_of(format, APS_SCALE_APS_TIGHT, APS_ROUND_NEAREST);
    const float specials[] = {INFINITY, -INFINITY, NAN, 0x1p-149f};
    bool alike = true;

    for (int exponent = -30; exponent <= 30; exponent++)
        for (int step = 0; step < 8; step++) {
            fill(values, exponent);
            alike &= encodes_alike(&wire, values);
        }
    for (size_t s = 0; s < sizeof specials / sizeof *specials; s++)
        for (int step = 0; step < 12; step++) {
            fill(values, 0);
            if (step > 7)
                values[step * 700] = specials[s];
            alike &= encodes_alike(&wire, values);
        }
    for (int step = 0; step < 8; step++) {
        memset(values, 0, COUNT * sizeof *values);
        alike &= encodes_alike(&wire, values);
    }
    ok(alike, "%s: a guess changes no byte", format);
}

/* When the codec is asked to encode by a guess, and when that was enough. */
static void test_calls(void)
{
    const struct aps_wire wire =
        wire_of("e4m3", APS_SCALE_APS_TIGHT, APS_ROUND_NEAREST);
    static float fresh[2 * COUNT]; /* no other test has been here */
    float *const here = fresh, *const other = fresh + COUNT;

    if (!search) {
        skip(6, "the codec of this CPU does not encode beside a search");
        return;
    }
    fill(here, 3);
    fill(other, -7);
    searches = 0;
    for (int step = 0; step < RECURRED; step++) {
        encodes_alike(&wire, here);
        encodes_alike(&wire, other);
    }
    ok(searches == 0, "blocks of %d steps are not guessed", RECURRED);
    searches = encodes = 0;
    encodes_alike(&wire, here);
    encodes_alike(&wire, other);
    ok(searches == 2 && encodes == 0,
       "when a scale has recurred it is, one place apart from another");
    searches = encodes = 0;
    fill(here, 4);
    encodes_alike(&wire, here);
    ok(searches == 1 && encodes == 1, "a wrong guess is encoded again");
    searches = encodes = 0;
    encodes_alike(&wire, here);
    ok(searches == 0 && encodes == 1, "and the next one is not guessed");
    searches = encodes = 0;
    for (int step = 0; step < RECURRED; step++)
        encodes_alike(&wire, here);
    ok(searches > 0, "until the new scale has recurred");
    {
        const struct aps_wire random =
            wire_of("e4m3", APS_SCALE_APS_TIGHT, APS_ROUND_STOCHASTIC);
        const struct aps_wire agreed =
            wire_of("e4m3", APS_SCALE_APS, APS_ROUND_NEAREST);

        searches = 0;
        encodes_alike(&random, here);
        encodes_alike(&agreed, here);
        ok(searches == 0, "nor is what random bits round, or ranks agree on");
    }
}

/* What is encoded beside the search for its own magnitude, with whatever exponent. */
static void test_search(const char *format)
{
    const struct aps_wire wire =
        wire_of(format, APS_SCALE_APS, APS_ROUND_NEAREST);
    const struct aps_origin origin = {.ranks = 1};
    const size_t bytes = aps_block_bytes(&wire, COUNT);
    bool alike = true, complete = true;
    int bounded = 0;

    for (int exponent = -12; exponent <= 12; exponent++)
        for (int special = 0; special < 3; special++) {
            struct aps_magnitude found, magnitude;
            struct aps_scaling scaling;

            fill(values, 2);
            if (special > 0)
                values[COUNT / 2] = special == 1 ? NAN : -INFINITY;
            magnitude = aps_magnitude_of(values, COUNT);
            memset(block, 0x55, sizeof block);
            if (!aps_block_encode_search(&wire, values, COUNT, exponent, block,
                                         &found))
                continue;
            complete &= found.finite == magnitude.finite &&
                        found.max == magnitude.max && block[bytes] == 0x55;
            (void)aps_block_choose_scaling(&wire, magnitude, exponent,
                                           &scaling);
            if (!scaling.bounded)
                continue;
            aps_block_encode(&wire, &origin, &aps_memory_host, values, COUNT,
                             exponent, expected);
            alike &= memcmp(block, expected, bytes) == 0;
            bounded++;
        }
    ok(alike && complete &&
           (!search || bounded > 10 || wire.codec.format.width > 8),
       "%s: a block that is encoded beside its search, %d times", format,
       bounded);
}

/* Guesses of exponents are made where they are mostly right. */
static void test_exponents(void)
{
    int exponent = 0, wrong = 0, guesses = 0;

    ok(!aps_guess_recall_exponent(values, &exponent), "a place is new");
    for (int i = 0; i < 5; i++)
        aps_guess_note_exponent(values, -7, false);
    ok(aps_guess_recall_exponent(values, &exponent) && exponent == -7 &&
           !aps_guess_recall_exponent(values + 64, &exponent),
       "an exponent that recurs is guessed at its place");
    aps_guess_note_exponent(values, 5, false);
    ok(!aps_guess_recall_exponent(values, &exponent),
       "... and not behind another one");
    for (int i = 0; i < 1000; i++) {
        const int next = (int)(draw() >> 12) % 2;

        if (aps_guess_recall_exponent(values, &exponent)) {
            guesses++;
            wrong += exponent != next;
        }
        aps_guess_note_exponent(values, next, false);
    }
    ok(guesses < 150, "%d of 1000 are guessed, %d wrong, where half recur",
       guesses, wrong);
    guesses = wrong = 0;
    for (int i = 0; i < 1000; i++) {
        const int next = i / 10;

        if (aps_guess_recall_exponent(values, &exponent)) {
            guesses++;
            wrong += exponent != next;
        }
        aps_guess_note_exponent(values, next, false);
    }
    ok(guesses > 700 && wrong <= 100,
       "%d of 1000 are guessed, %d wrong, where nine of ten recur", guesses,
       wrong);
}

int main(void)
{
    static const char *const formats[] = {"e4m3",  "e5m2", "e4m3fn",   "e3m0",
                                          "e3m2",  "e2m3", "e5m2-sat", "e2m4",
                                          "e5m10", "e8m7", "e6m9"};

    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        test_bytes(formats[f]);
        test_search(formats[f]);
    }
    test_calls();
    test_exponents();
    return done_testing();
}
