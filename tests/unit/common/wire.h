/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wire's layout, bit by bit, and random inputs, for the tests of the codec.
 */
#ifndef APS_TESTS_UNIT_COMMON_WIRE_H
#define APS_TESTS_UNIT_COMMON_WIRE_H

#include <math.h>
#include <stdint.h>

#include "number/format.h"
#include "number/bits.h"

/* Sets value i of a wire that was all zero. */
static inline void wire_put(uint8_t *wire, size_t i, int width, uint32_t code)
{
    for (int b = 0; b < width; b++) {
        size_t bit = i * (size_t)width + (size_t)b;

        wire[bit / 8] |= (uint8_t)((code >> b & 1) << (bit % 8));
    }
}

static inline uint32_t wire_get(const uint8_t *wire, size_t i, int width)
{
    uint32_t code = 0;

    for (int b = 0; b < width; b++) {
        size_t bit = i * (size_t)width + (size_t)b;

        code |= (uint32_t)(wire[bit / 8] >> (bit % 8) & 1) << b;
    }
    return code;
}

static inline uint32_t random_bits(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* Returns a float of random sign and mantissa with an exponent near the format's range,
 * so that subnormals, ties and overflows are frequent after scaling by 2^exponent. */
static inline float random_near(const struct aps_format *format, int exponent)
{
    int low = 1 - format->bias - format->mantissa_bits - 3 - exponent;
    int largest = format->exponent_bits > 0 ? format->bias : 1 - format->bias;
    int high = largest + 3 - exponent;
    int e = low + (int)(random_bits() % (unsigned)(high - low + 1));
    uint32_t mantissa = random_bits() & 0x7fffffu;

    if (random_bits() % 2) /* few bits: ties */
        mantissa &= ~(0x3fffffu >> format->mantissa_bits);
    return ldexpf(aps_float_from_bits((random_bits() & APS_FLOAT_SIGN) |
                                      0x3f800000u | mantissa),
                  e);
}

/* Returns any value: every third value is any bit pattern, and some are NaN and INF. */
static inline float random_value(const struct aps_format *format, int exponent)
{
    static const uint32_t special[] = {
        0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
        0xffc00000, 0x7f800001, 0xffbfffff, 0x00000001, 0x807fffff,
        0x00800000, 0x7f7fffff, 0x3f800000, 0xbf800000,
    };
    uint32_t kind = random_bits() % 30;

    if (kind == 0)
        return aps_float_from_bits(
            special[random_bits() % (sizeof special / sizeof *special)]);
    if (kind < 10)
        return aps_float_from_bits(random_bits());
    return random_near(format, exponent);
}

#endif
