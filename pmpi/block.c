/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block.h"

#include <math.h>
#include <string.h>

#include "scale/scale.h"

/* Slices meet at whole bytes of any width and at whole cache lines of FP32. */
#define SLICE_UNIT 64

static struct aps_scaling scaling_of(const struct aps_wire *wire, int exponent)
{
    struct aps_scaling scaling = {.exponent = exponent, .factor = 1};

    if (wire->scale == APS_SCALE_FIXED) {
        /* frexp's mantissa is in [0.5, 1), the factor in [1, 2). */
        scaling.factor = 2 * frexpf(wire->fixed, &scaling.exponent);
        scaling.exponent--;
    }
    return scaling;
}

size_t aps_block_bytes(const struct aps_wire *wire, size_t n)
{
    return sizeof(struct aps_block_header) + aps_codec_bytes(&wire->codec, n);
}

void aps_cost_add(struct aps_cost *cost, const struct aps_wire *wire, size_t n,
                  int receivers)
{
    if (n == 0)
        return;
    cost->wire_bytes +=
        (unsigned long long)receivers * aps_block_bytes(wire, n);
    cost->fp32_bytes += (unsigned long long)receivers * n * sizeof(float);
}

void aps_cost_note(struct aps_cost *cost, int exponent)
{
    if (!cost->encoded || exponent < cost->least_exponent)
        cost->least_exponent = exponent;
    cost->encoded = true;
}

int aps_block_encode(const struct aps_wire *wire,
                     const struct aps_memory *memory, const float *x, size_t n,
                     int exponent, unsigned char *block)
{
    struct aps_block_header header = {0};
    struct aps_scaling scaling;

    switch (wire->scale) {
    case APS_SCALE_APS:
        break;
    case APS_SCALE_APS_TIGHT:
        exponent =
            aps_scale_aps_tight(&wire->codec.format, memory->max_finite(x, n));
        break;
    case APS_SCALE_NONE:
    case APS_SCALE_FIXED:
        exponent = 0;
        break;
    }
    scaling = scaling_of(wire, exponent);
    header.exponent = (int16_t)scaling.exponent;
    header.flags = (uint8_t)memory->encode(&wire->codec, x, n, scaling,
                                           block + sizeof header);
    memcpy(block, &header, sizeof header);
    return exponent;
}

static struct aps_scaling read_header(const struct aps_wire *wire,
                                      const unsigned char *block,
                                      unsigned *flags)
{
    struct aps_block_header header;
    struct aps_scaling scaling;

    memcpy(&header, block, sizeof header);
    scaling = scaling_of(wire, header.exponent);
    *flags = header.flags;
    return scaling;
}

void aps_block_decode(const struct aps_wire *wire,
                      const struct aps_memory *memory,
                      const unsigned char *block, size_t n, float *x)
{
    unsigned flags;
    struct aps_scaling scaling = read_header(wire, block, &flags);

    memory->decode(&wire->codec, block + sizeof(struct aps_block_header), n,
                   scaling, flags, x);
}

void aps_block_sum(const struct aps_wire *wire, int turn,
                   const unsigned char *block, size_t n, float *sum)
{
    const unsigned char *values = block + sizeof(struct aps_block_header);
    unsigned flags;
    struct aps_scaling scaling = read_header(wire, block, &flags);

    if (turn == 0) {
        wire->codec.decode(&wire->codec, values, n, scaling, flags, sum);
        return;
    }
    wire->codec.decode_add(&wire->codec, values, n, scaling, flags, sum);
    if (wire->round_sums)
        wire->codec.round(&wire->codec, n, scaling, sum);
}

struct aps_slice aps_slice_of(size_t n, int parts, int i)
{
    const size_t units = (n + SLICE_UNIT - 1) / SLICE_UNIT;
    const size_t whole = units / (size_t)parts;
    const size_t rest = units % (size_t)parts;
    const size_t k = (size_t)i;
    /* The first `rest` slices are one unit longer. */
    size_t begin = (whole * k + (k < rest ? k : rest)) * SLICE_UNIT;
    size_t end = begin + (whole + (k < rest)) * SLICE_UNIT;

    if (begin > n)
        begin = n;
    if (end > n)
        end = n;
    return (struct aps_slice){.begin = begin, .length = end - begin};
}

size_t aps_slice_longest(size_t n, int parts)
{
    return aps_slice_of(n, parts, 0).length;
}
