/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel that converts elements, done on the host, against the conversions of the
 * host (pmpi/device/memory_relay.c): codecs of bf16 and fp16, and C's own for double.
 * All codes of 16 bits, all floats half-way between two of them and next to those, and
 * random bits, all NaN included.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "codec/codec.h"
#include "emulate.h"
#include "number/bits.h"
#include "number/parse.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define BATCH 2048
#define MARGIN 64
#define RANDOM (1u << 20)

static const struct aps_scaling unscaled = {.factor = 1};
static struct aps_codec codec;

/* The conversion of a batch by the host, and by the kernel at an address that is
 * `shift` bytes off. */
static unsigned char from[MARGIN + BATCH * 8 + MARGIN];
static unsigned char to[MARGIN + BATCH * 8 + MARGIN];
static double input[BATCH], wanted[BATCH];
static size_t length, wrong, all;

static void convert(enum aps_element element, bool narrow)
{
    const size_t bytes = aps_element_types[element].bytes;
    const size_t in = narrow ? sizeof(float) : bytes;
    const size_t out = narrow ? bytes : sizeof(float);
    float *floats = (void *)(narrow ? input : wanted);
    double *doubles = narrow ? wanted : input;

    if (element != APS_ELEMENT_DOUBLE && narrow)
        codec.encode(&codec, floats, length, unscaled, NULL, wanted);
    else if (element != APS_ELEMENT_DOUBLE)
        codec.decode(&codec, input, length, unscaled, 0, floats);
    for (size_t i = 0; element == APS_ELEMENT_DOUBLE && i < length; i++) {
        if (narrow)
            doubles[i] = floats[i];
        else
            floats[i] = (float)doubles[i];
    }
    for (size_t shift = 0; shift < 4; shift += 3) {
        unsigned char *x = from + MARGIN + (narrow ? 0 : shift);
        unsigned char *y = to + MARGIN + (narrow ? shift : 0);

        memcpy(x, input, length * in);
        memset(to, 0x55, sizeof to);
        emulate_convert(element, narrow, x, length, y);
        for (size_t i = 0; i < length; i++)
            wrong += memcmp(y + i * out, (unsigned char *)wanted + i * out,
                            out) != 0;
        wrong += y[-1] != 0x55 || y[length * out] != 0x55;
    }
    all += length;
    length = 0;
}

/* Adds an input, of `bytes` bytes, to the batch; converts the batch if it is full. */
static void take(enum aps_element element, bool narrow, uint64_t bits,
                 size_t bytes)
{
    memcpy((unsigned char *)input + length * bytes, &bits, bytes);
    if (++length == BATCH)
        convert(element, narrow);
}

static void done(enum aps_element element, bool narrow)
{
    convert(element, narrow);
    ok(wrong == 0, "%s %s FP32: %zu values, %zu wrong",
       aps_element_types[element].name, narrow ? "from" : "to", all, wrong);
    wrong = all = 0;
}

static uint64_t random_long(void)
{
    return (uint64_t)random_bits() << 32 | random_bits();
}

/* Takes the floats at and next to x and -x. */
static void take_near(enum aps_element element, double x)
{
    const uint32_t bits = aps_float_bits((float)x);

    for (uint32_t near = bits - (bits > 0); near <= bits + 1; near++) {
        take(element, true, near, 4);
        take(element, true, near | APS_FLOAT_SIGN, 4);
    }
}

static void test_words(enum aps_element element)
{
    const int greatest = element == APS_ELEMENT_BF16 ? 0x7f7f : 0x7bff;
    struct aps_format format;
    float value, next;

    aps_format_parse(aps_element_types[element].format, &format, NULL);
    aps_codec_init(&format, &codec);
    for (uint32_t code = 0; code < 1 << 16; code++)
        take(element, false, code, 2);
    done(element, false);

    for (uint16_t code = 0; code <= greatest; code++) {
        const uint16_t above = code + 1;

        codec.decode(&codec, &code, 1, unscaled, 0, &value);
        codec.decode(&codec, &above, 1, unscaled, 0, &next);
        take_near(element, value);
        if (isfinite(next))
            take_near(element, ((double)value + next) / 2);
    }
    take_near(element, 65520);      /* fp16 overflows from here on */
    take_near(element, 0x1.ffp127); /* and bf16 from here on */
    take_near(element, INFINITY);
    for (uint32_t i = 0; i < RANDOM; i++) {
        take(element, true, random_bits(), 4);
        take(element, true, random_bits() & 0x807fffff, 4);    /* subnormal */
        take(element, true, random_bits() | APS_FLOAT_INF, 4); /* or NaN */
    }
    done(element, true);
}

static void test_doubles(void)
{
    const enum aps_element element = APS_ELEMENT_DOUBLE;
    const uint64_t inf = 0x7ff0000000000000u;

    for (uint32_t i = 0; i < RANDOM; i++) {
        const double value = aps_float_from_bits(random_bits());
        uint64_t bits;

        /* halves between two floats, and next to them */
        memcpy(&bits, &value, sizeof bits);
        bits ^= (uint64_t)1 << 28;
        take(element, false, bits, 8);
        take(element, false, bits ^ (random_bits() & 1), 8);
        /* all exponents, few of which floats have; their subnormals; NaN */
        bits = random_long();
        take(element, false, bits, 8);
        take(element, false, (bits & ~inf) | (uint64_t)(870 + i % 30) << 52, 8);
        take(element, false, bits | inf, 8);
    }
    take(element, false, inf, 8);
    take(element, false, 0x47efffffefffffffu, 8); /* FP32's greatest, ... */
    take(element, false, 0x47effffff0000000u, 8); /* ... and INF */
    take(element, false, (uint64_t)1 << 63, 8);
    done(element, false);
    for (uint32_t i = 0; i < RANDOM; i++) {
        take(element, true, random_bits(), 4);
        take(element, true, random_bits() & 0x807fffff, 4);
        take(element, true, random_bits() | APS_FLOAT_INF, 4);
    }
    take_near(element, INFINITY);
    done(element, true);
}

int main(void)
{
    if (emulate_skip())
        plan_skip_all("%s", emulate_skip());
    diag("the conversions as done by %s", emulate_compiler());
    test_words(APS_ELEMENT_BF16);
    test_words(APS_ELEMENT_FP16);
    test_doubles();
    return done_testing();
}
