/* SPDX-License-Identifier: BSD-3-Clause */
/* Encode and decode under every kind of scaling, against MPFR. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "codec/codec.h"
#include "float/float.h"
#include "unit/common/formats.h"
#include "unit/number/oracle.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define N 200

static const char *const cpus[] = APS_CPU_NAMES;

/* Exponents around every limit of float, of its subnormals, and of the contract. */
static const int exponents[] = {
    -400, -300, -277, -254, -253, -252, -200, -151, -150, -149, -148, -128,
    -127, -126, -125, -60,  -24,  -23,  -2,   -1,   0,    1,    2,    13,
    60,   125,  126,  127,  128,  149,  200,  252,  254,  255,  277,  400,
};

static bool same(float a, float b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) && !signbit(a) == !signbit(b);
    return aps_float_bits(a) == aps_float_bits(b);
}

static bool encodes(const struct aps_codec *codec, struct aps_scaling scaling)
{
    const struct aps_format *f = &codec->format;
    uint8_t wire[N * 4];
    float x[N];

    for (int i = 0; i < N; i++)
        x[i] = random_value(f, scaling.exponent);
    codec->encode(codec, x, N, scaling, NULL, wire);
    for (size_t i = 0; i < N; i++) {
        float got = aps_decode(f, wire_get(wire, i, f->width));
        float expected = scaling.factor == 1
                             ? oracle_cast(f, x[i], scaling.exponent)
                             : oracle_cast(f,
                                           oracle_multiply(x[i], scaling.factor,
                                                           scaling.exponent),
                                           0);

        if (isnan(x[i]))
            expected = aps_cast(f, x[i]);
        if (!same(got, expected)) {
            diag("%s %s: %a * %a * 2^%d -> %a, not %a", f->name, codec->cpu,
                 (double)x[i], (double)scaling.factor, scaling.exponent,
                 (double)got, (double)expected);
            return false;
        }
    }
    return true;
}

static bool decodes(const struct aps_codec *codec, struct aps_scaling scaling)
{
    const struct aps_format *f = &codec->format;
    uint8_t wire[N * 4] = {0};
    float x[N];

    for (size_t i = 0; i < N; i++)
        wire_put(wire, i, f->width, random_bits());
    codec->decode(codec, wire, N, scaling, 0, x);
    for (size_t i = 0; i < N; i++) {
        float value = aps_decode(f, wire_get(wire, i, f->width));
        float expected = isnan(value) ? value
                                      : oracle_divide(value, scaling.factor,
                                                      scaling.exponent);

        if (!same(x[i], expected)) {
            diag("%s %s: %a / (%a * 2^%d) -> %a, not %a", f->name, codec->cpu,
                 (double)value, (double)scaling.factor, scaling.exponent,
                 (double)x[i], (double)expected);
            return false;
        }
    }
    return true;
}

static void test_format(const struct aps_codec *codec)
{
    static const float factors[] = {1, 1.5f, 0x1.000002p0f, 0x1.fffffep0f,
                                    1.3f};
    bool encode_power = true, encode_factor = true;
    bool decode_power = true, decode_factor = true;

    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        struct aps_scaling scaling = {.exponent = exponents[i], .factor = 1};

        encode_power = encodes(codec, scaling) && encode_power;
        decode_power = decodes(codec, scaling) && decode_power;
        scaling.factor =
            factors[1 + i % (sizeof factors / sizeof *factors - 1)];
        encode_factor = encodes(codec, scaling) && encode_factor;
        decode_factor = decodes(codec, scaling) && decode_factor;
    }
    const char *name = codec->format.name;
    ok(encode_power, "%s %s: encode rounds x * 2^exponent once", name,
       codec->cpu);
    ok(decode_power, "%s %s: decode rounds value / 2^exponent once", name,
       codec->cpu);
    ok(encode_factor, "%s %s: encode casts the float product", name,
       codec->cpu);
    ok(decode_factor, "%s %s: decode rounds value / (factor * 2^exponent) once",
       name, codec->cpu);
}

int main(void)
{
    for (size_t c = 0; c < sizeof cpus / sizeof *cpus; c++) {
        const struct aps_float_variant *variant =
            aps_float_variant_find(cpus[c]);

        if (!variant) {
            skip(1, "no %s on this machine", cpus[c]);
            continue;
        }
        struct aps_format format;
        struct aps_codec codec;

        for (int i = 0; format_at(i, &format); i++) {
            aps_float_codec_init(&format, variant, &codec);
            test_format(&codec);
        }
    }
    return done_testing();
}
