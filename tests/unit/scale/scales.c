/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "unit/scale/scales.h"

#include <stdio.h>
#include <string.h>

#include "number/parse.h"
#include "tests/tap/tap.h"

static uint64_t scales_random_state = 0x9E3779B97F4A7C15;

uint32_t scales_random(void)
{
    scales_random_state ^= scales_random_state << 13;
    scales_random_state ^= scales_random_state >> 7;
    scales_random_state ^= scales_random_state << 17;
    return (uint32_t)(scales_random_state >> 32);
}

float scales_random_float(void)
{
    uint32_t bits;
    float x;

    do {
        bits = scales_random() & 0x7fffffff;
    } while (bits == 0 || bits >= 0x7f800000);
    memcpy(&x, &bits, sizeof x);
    return x;
}

void scales_parse(int exponent_bits, int mantissa_bits,
                  struct aps_format *format)
{
    char name[16];

    snprintf(name, sizeof name, "e%dm%d", exponent_bits, mantissa_bits);
    if (aps_format_parse(name, format, NULL) < 0)
        bail_out("%s is no format", name);
}
