/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of values whose magnitude is known: the bytes of values that no search
 * has measured, and the bounds that encode gets.
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "aps.h"
#include "codec/codec.h"
#include "codec/memory.h"
#include "block/block.h"
#include "scale/scale.h"
#include "tests/tap/tap.h"

#define COUNT 9001 /* more than two tiles, and a rest */

static float values[COUNT];
static unsigned char plain[COUNT * 4 + 64], within[COUNT * 4 + 64];

static uint32_t draw(void)
{
    static uint32_t state = 7;

    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Over 40 binades below 1, of both signs; the greatest is 1, in the last tile. */
static void fill(void)
{
    for (size_t i = 0; i < COUNT; i++)
        values[i] = ldexpf((float)draw() * 0x1p-24f, -(int)(draw() % 40)) *
                    (draw() % 2 ? 1 : -1);
    values[COUNT - 2] = -1;
}

static struct aps_wire wire_of(const char *name, enum aps_scale_kind scale)
{
    struct aps_wire wire = {.memory = &aps_memory_host,
                            .scale = {.kind = scale},
                            .rounding = APS_ROUND_NEAREST};

    wire.scale.parameters[0] = 1; /* parameter of APS_SCALE_FIXED */

    aps_codec_init(aps_format_get(name, NULL), &wire.codec);
    return wire;
}

/* Compares the bytes with that exponent, with and without the bound. */
static bool are_alike(const struct aps_wire *wire, int exponent,
                      struct aps_magnitude bound)
{
    struct aps_block block = {.memory = wire->memory,
                              .x = values,
                              .n = COUNT,
                              .ranks = 1,
                              .exponent = exponent};
    const size_t bytes = aps_block_bytes(wire, COUNT);

    memset(plain, 0x55, sizeof plain);
    memset(within, 0x55, sizeof within);
    aps_block_encode(wire, &block, plain);
    block.known = bound;
    aps_block_encode(wire, &block, within);
    return memcmp(plain, within, bytes) == 0 && within[bytes] == 0x55;
}

/* Checks the bound that encode gets for values of that magnitude. */
static bool is_bounded(const struct aps_wire *wire, int exponent, float max,
                       bool finite)
{
    const struct aps_block block = {.exponent = exponent};

    return aps_block_meta_of(wire, &block, (struct aps_magnitude){max, finite})
        .scaling.bounded;
}

static const char *const formats[] = {
    "e4m3", "e5m2",  "e4m3fn", "e3m0", "e3m2", "e2m3",  "e2m1fn", "e5m0",
    "e1m4", "e5m10", "e8m7",   "e6m9", "e8m0", "e7m12", "e8m23",  "flex16"};

static void test_bytes(const char *name)
{
    const struct aps_wire wire = wire_of(name, APS_SCALE_APS);
    const float specials[] = {0.5f, INFINITY, -INFINITY, NAN};
    bool alike = true;

    for (size_t s = 0; s < sizeof specials / sizeof *specials; s++)
        for (int exponent = -140; exponent <= 140; exponent += 7) {
            struct aps_magnitude bound;

            fill();
            values[COUNT / 2] = specials[s];
            bound = aps_magnitude_of(values, COUNT);
            alike &= are_alike(&wire, exponent, bound);
            bound.max *= 2; /* the bound of more values than these */
            alike &= are_alike(&wire, exponent, bound);
        }
    /* The greatest values of the data and of the format meet. */
    for (int exponent = -3; exponent <= 17; exponent++) {
        fill();
        alike &= are_alike(&wire, exponent, aps_magnitude_of(values, COUNT));
        values[17] = wire.codec.format.max / 0x1p10f;
        alike &= are_alike(&wire, 10, aps_magnitude_of(values, COUNT));
    }
    ok(alike, "%s: a bound changes no byte", name);
}

static void test_hint(const char *name)
{
    const struct aps_wire wire = wire_of(name, APS_SCALE_APS);
    const struct aps_wire fixed = wire_of(name, APS_SCALE_FIXED);
    const float max = wire.codec.format.max;

    ok(is_bounded(&wire, 0, max, true) && is_bounded(&wire, 3, max / 8, true) &&
           is_bounded(&wire, 0, 0, true),
       "%s: encode knows that the greatest value fits", name);
    ok(!is_bounded(&wire, 0, nextafterf(max, INFINITY), true) &&
           !is_bounded(&wire, 3, nextafterf(max / 8, INFINITY), true),
       "%s: not of one beyond", name);
    ok(!is_bounded(&wire, 0, max / 2, false) && !is_bounded(&wire, 0, 0, false),
       "%s: nor of values that may be INF or NaN", name);
    ok(!is_bounded(&fixed, 0, max / 2, true),
       "%s: nor where the policy says the factor", name);
}

int main(void)
{
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        test_bytes(formats[f]);
    test_hint("e4m3");
    test_hint("e4m3fn");
    test_hint("e3m0");
    test_hint("e5m10");
    return done_testing();
}
