/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random formats: names are drawn from every family, and so are sizes,
 * addresses, scales, roundings and values. Every variant must give the bytes,
 * values and statistics of the plain one, and change nothing else.
 *
 *     codec_random [SEED [FORMATS]]
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "codec/codec.h"
#include "number/parse.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define N 5000
#define GUARD 64 /* bytes */

static const char *const cpus[] = APS_CPU_NAMES;

static float x[N + 16], y[N + 32], z[N + 32];
static unsigned char wire[N * 4 + 4096], other[N * 4 + 4096];

static unsigned draw(unsigned below)
{
    return random_bits() % below;
}

/* --- names ---------------------------------------------------------------- */

static void name_float(char *name, size_t size)
{
    static const char *const ends[] = {"", "", "fn", "-sat"};

    snprintf(name, size, "e%um%u%s", 1 + draw(8), draw(24), ends[draw(4)]);
}

/* Returns lengths of blocks that vectors support well, their neighbours, or any. */
static unsigned length(void)
{
    static const unsigned lengths[] = {16, 32, 48, 64, 96, 128, 192, 512, 576};

    switch (draw(3)) {
    case 0:
        return 1 + draw(4096);
    case 1:
        return 1u << (1 + draw(12));
    default:
        return lengths[draw(sizeof lengths / sizeof *lengths)];
    }
}

static void name_bfp(char *name, size_t size)
{
    snprintf(name, size, "bfp%u/%u", 1 + draw(draw(2) ? 24 : 8), length());
}

static void name_integer(char *name, size_t size)
{
    snprintf(name, size, "int%u/%u", 2 + draw(15), length());
}

static void name_qsgd(char *name, size_t size)
{
    snprintf(name, size, "qsgd%u/%u%s", 1 + draw(draw(2) ? 127 : 8), length(),
             draw(2) ? "-l2" : "");
}

static void name_sign(char *name, size_t size)
{
    snprintf(name, size, "sign/%u", length());
}

static void name_other(char *name, size_t size)
{
    static const char *const names[] = {
        "mx-e5m2", "mx-e4m3fn", "mx-e3m2fn", "mx-e2m3fn", "mx-e2m1fn",
        "mx-int8", "nvfp4",     "flex8",     "flex16",
    };

    snprintf(name, size, "%s", names[draw(sizeof names / sizeof *names)]);
}

static const struct family {
    const char *what;
    void (*name)(char *name, size_t size);
} families[] = {
    {"floats", name_float},     {"bfp", name_bfp},
    {"integers", name_integer}, {"levels", name_qsgd},
    {"signs", name_sign},       {"mx, nvfp4, flex", name_other},
};

/* Draws until the name is valid: some splits and widths are not formats. */
static void draw_format(const struct family *family, char *name, size_t size,
                        struct aps_format *format)
{
    for (int i = 0; i < 1000; i++) {
        family->name(name, size);
        if (aps_format_parse(name, format, NULL) == 0)
            return;
    }
    bail_out("no name of %s is a format, the last is %s", family->what, name);
}

/* --- values --------------------------------------------------------------- */

/* Fills values like a gradient's or near the format's limits; sometimes with
 * special values, alone or in a row. */
static void fill(const struct aps_format *format, float *v, size_t n)
{
    const bool special = draw(3) == 0, near = draw(2) == 0;
    const int binade = (int)draw(60) - 40;

    for (size_t i = 0; i < n; i++) {
        const float uniform = (float)(int32_t)random_bits() * 0x1p-31f;

        v[i] = near && format->exponent_bits > 0
                   ? random_near(format, 0)
                   : ldexpf(uniform * uniform * uniform, binade);
        if (!special)
            continue;
        if (i / 64 % 5 == 1)
            v[i] = draw(2) ? 0.f : -0.f;
        if (i / 64 % 7 == 3)
            v[i] = ldexpf(uniform, -140);
        if (draw(400) == 0)
            v[i] = draw(2) ? NAN : draw(2) ? INFINITY : -INFINITY;
    }
}

static size_t draw_size(const struct aps_format *format)
{
    const size_t block = format->block > 0 ? (size_t)format->block : 1;
    const size_t part = block < N ? N / block : 1;

    switch (draw(3)) {
    case 0:
        return draw(N + 1);
    case 1:
        return block * draw((unsigned)part + 1) % (N + 1);
    default:
        return draw(300);
    }
}

static struct aps_cast_options draw_options(const struct aps_format *format)
{
    static const enum aps_rounding roundings[] = {
        APS_ROUND_NEAREST, APS_ROUND_STOCHASTIC, APS_ROUND_TOWARD_ZERO,
        APS_ROUND_CORRELATED};
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;

    options.rounding = roundings[draw(sizeof roundings / sizeof *roundings)];
    options.seed = random_bits();
    options.layer = random_bits();
    options.step = random_bits();
    options.stage = draw(16);
    options.ranks = draw(2) ? 1u << draw(10) : 1 + draw(300);
    options.rank = draw((unsigned)options.ranks);
    options.offset = (uint64_t)draw(1u << 20) * aps_format_granule(format);
    return options;
}

/* --- the comparison ------------------------------------------------------- */

struct given {
    struct aps_scaling scaling;
    struct aps_cast_options options;
    size_t n, skew; /* in elements and bytes */
};

static bool untouched(const unsigned char *bytes, unsigned char was)
{
    for (size_t i = 0; i < GUARD; i++)
        if (bytes[i] != was)
            return false;
    return true;
}

static const char *differs_encode(const struct aps_codec *plain,
                                  const struct aps_codec *codec,
                                  const struct given *given, unsigned *flags)
{
    const struct aps_cast_options *o = &given->options;
    const size_t bytes = aps_codec_bytes(plain, given->n);
    const float *from = x + given->skew % 16;
    unsigned char *to = other + GUARD + given->skew;
    struct aps_encode_stats a = {0}, b = {0};

    memset(wire, 0xa5, sizeof wire);
    memset(other, 0xa5, sizeof other);
    *flags = plain->encode(plain, from, given->n, given->scaling, o, wire);
    if (codec->encode(codec, from, given->n, given->scaling, o, to) != *flags)
        return "encode's flags";
    if (memcmp(wire, to, bytes) != 0)
        return "encode";
    if (!untouched(to - GUARD, 0xa5) || !untouched(to + bytes, 0xa5))
        return "encode's bounds";
    memset(other, 0x3c, sizeof other);
    plain->encode_stats(plain, from, given->n, given->scaling, o, wire, &a);
    if (codec->encode_stats(codec, from, given->n, given->scaling, o, to, &b) !=
        *flags)
        return "encode_stats' flags";
    if (memcmp(wire, to, bytes) != 0)
        return "encode_stats";
    if (!untouched(to - GUARD, 0x3c) || !untouched(to + bytes, 0x3c))
        return "encode_stats' bounds";
    return a.underflow == b.underflow && a.overflow == b.overflow &&
                   a.nonfinite == b.nonfinite
               ? NULL
               : "statistics";
}

static const char *differs_decode(const struct aps_codec *plain,
                                  const struct aps_codec *codec,
                                  const struct given *given, unsigned flags)
{
    unsigned char *from = other + GUARD + given->skew;
    float *to = z + 16;

    memset(y, 0x5a, sizeof y);
    memset(z, 0x5a, sizeof z);
    plain->decode(plain, wire, given->n, given->scaling, flags, y + 16);
    codec->decode(codec, from, given->n, given->scaling, flags, to);
    if (memcmp(y, z, sizeof y) != 0)
        return "decode";
    for (size_t i = 0; i < given->n; i++)
        y[16 + i] = to[i] = (float)i * 0.37f - 100;
    plain->decode_add(plain, wire, given->n, given->scaling, flags, y + 16);
    codec->decode_add(codec, from, given->n, given->scaling, flags, to);
    if (memcmp(y, z, sizeof y) != 0)
        return "decode_add";
    memcpy(y + 16, x + given->skew % 16, given->n * sizeof *y);
    memcpy(to, y + 16, given->n * sizeof *y);
    plain->round(plain, given->n, given->scaling, y + 16);
    codec->round(codec, given->n, given->scaling, to);
    return memcmp(y, z, sizeof y) == 0 ? NULL : "round";
}

/* Returns the name of the first difference, or NULL. */
static const char *differs(const struct aps_format *format, const char *cpu,
                           const struct given *given)
{
    struct aps_codec plain, codec;
    const char *what;
    unsigned flags;

    if (aps_codec_init_for(format, "plain", &plain) < 0 ||
        aps_codec_init_for(format, cpu, &codec) < 0)
        bail_out("there is no variant %s", cpu);
    what = differs_encode(&plain, &codec, given, &flags);
    return what ? what : differs_decode(&plain, &codec, given, flags);
}

static bool has_cpu(const char *cpu)
{
    struct aps_format format;
    struct aps_codec codec;

    return aps_format_parse("e5m2", &format, NULL) == 0 &&
           aps_codec_init_for(&format, cpu, &codec) == 0;
}

static bool try_format(const struct family *family, const char *cpu)
{
    struct aps_format format;
    char name[64];
    bool right = true;

    draw_format(family, name, sizeof name, &format);
    for (int i = 0; i < 8; i++) {
        struct given given = {.scaling = {.factor = 1},
                              .options = draw_options(&format),
                              .n = draw_size(&format),
                              .skew = draw(64)};
        const char *what;

        given.scaling.exponent = draw(2) ? (int)draw(81) - 40 : 0;
        fill(&format, x, sizeof x / sizeof *x);
        what = differs(&format, cpu, &given);
        if (!what)
            continue;
        right = false;
        diag("%s, %s: %s; %zu values, %zu bytes off, scale 2^%d, rounding %d",
             name, cpu, what, given.n, given.skew, given.scaling.exponent,
             (int)given.options.rounding);
    }
    return right;
}

int main(int argc, char **argv)
{
    const unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    const int formats = argc > 2 ? atoi(argv[2]) : 60;

    for (unsigned long i = 0; i < seed; i++)
        (void)random_bits();
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        for (size_t c = 1; c < sizeof cpus / sizeof *cpus; c++) {
            bool right = true;

            if (!has_cpu(cpus[c])) {
                skip(1, "this CPU has no %s", cpus[c]);
                continue;
            }
            for (int i = 0; i < formats; i++)
                right &= try_format(&families[f], cpus[c]);
            ok(right, "%d %s drawn: %s is plain's", formats, families[f].what,
               cpus[c]);
        }
    }
    return done_testing();
}
