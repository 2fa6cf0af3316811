/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/accumulate.h"

#include <math.h>
#include <string.h>

/* Elements summed at a time over all blocks, so that sum and terms stay in the
 * caches next to the core: this many at most, a multiple of the granule. */
#define TILE 4096
_Static_assert(TILE >= APS_FORMAT_GRANULE_MAX, "a tile has a granule");

/* Values [begin, begin + n) of a block. */
struct part {
    const unsigned char *values;
    struct aps_scaling scaling;
    unsigned flags;
};

/* Values of a tile, behind the scale of the block that they are of. */
struct copy {
    unsigned char bytes[TILE * sizeof(float) + sizeof(float)];
};

/* What a codec decodes begins with the scale of the whole block, if there is
 * one. */
static struct part accumulate_part_of(const struct aps_wire *wire,
                                      const unsigned char *block, size_t begin,
                                      size_t n, struct copy *copy)
{
    const struct aps_codec *codec = &wire->codec;
    const size_t scale = (size_t)codec->format.piece_bytes;
    const unsigned char *values = block + aps_block_header_bytes(wire);
    struct part part;

    part.scaling = aps_block_scaling(wire, block, &part.flags);
    part.values = values + aps_codec_bytes(codec, begin);
    if (scale > 0 && begin > 0) {
        memcpy(copy->bytes, values, scale);
        memcpy(copy->bytes + scale, part.values,
               aps_codec_bytes(codec, n) - scale);
        part.values = copy->bytes;
    }
    return part;
}

/* fp32 and format. */
static void accumulate_add_tile(const struct aps_wire *wire, int turn,
                                struct part part, size_t n, float *sum)
{
    const struct aps_codec *codec = &wire->codec;

    if (turn == 0) {
        codec->decode(codec, part.values, n, part.scaling, part.flags, sum);
        return;
    }
    codec->decode_add(codec, part.values, n, part.scaling, part.flags, sum);
    if (wire->accumulate == APS_ACCUMULATE_FORMAT)
        wire->sums.round(&wire->sums, n, part.scaling, sum);
}

/* One Kahan step for every element: y and t in the notation of the header. */
static void accumulate_add_tile_kahan(const struct aps_wire *wire,
                                      struct part part, size_t n, float *sum,
                                      float *carry)
{
    const struct aps_codec *codec = &wire->codec, *sums = &wire->sums;
    float y[TILE], t[TILE];

    codec->decode(codec, part.values, n, part.scaling, part.flags, y);
    for (size_t i = 0; i < n; i++)
        y[i] -= carry[i];
    sums->round(sums, n, part.scaling, y);
    for (size_t i = 0; i < n; i++)
        t[i] = sum[i] + y[i];
    sums->round(sums, n, part.scaling, t);
    for (size_t i = 0; i < n; i++)
        carry[i] = t[i] - sum[i];
    sums->round(sums, n, part.scaling, carry);
    for (size_t i = 0; i < n; i++)
        carry[i] -= y[i];
    sums->round(sums, n, part.scaling, carry);
    memcpy(sum, t, n * sizeof *sum);
}

/* Block i of `count`: the first chunk is summed in `sum`, the others in `chunk`,
 * which goes to the sum at their ends. */
static void accumulate_add_tile_chunked(const struct aps_wire *wire, int i,
                                        int count, struct part part, size_t n,
                                        float *sum, float *chunk)
{
    const int turn = i % wire->chunk;

    if (i < wire->chunk) {
        accumulate_add_tile(wire, turn, part, n, sum);
        return;
    }
    accumulate_add_tile(wire, turn, part, n, chunk);
    if (turn < wire->chunk - 1 && i < count - 1)
        return;
    for (size_t k = 0; k < n; k++)
        sum[k] += chunk[k];
    wire->sums.round(&wire->sums, n, part.scaling, sum);
}

/* Add the magnitude of x[n] to one. */
static void accumulate_measure(const float *x, size_t n,
                               struct aps_magnitude *magnitude)
{
    const struct aps_magnitude here = aps_magnitude_of(x, n);

    if (here.max > magnitude->max)
        magnitude->max = here.max;
    magnitude->finite &= here.finite;
}

/* Does nothing but its size tell that a partial sum has overflowed? */
static bool accumulate_hides_overflow(const struct aps_wire *wire)
{
    return wire->records && wire->accumulate != APS_ACCUMULATE_FP32 &&
           wire->sums.format.saturate;
}

void aps_accumulate(const struct aps_wire *wire, int count,
                    const unsigned char *blocks, size_t stride, size_t n,
                    float *sum, struct aps_magnitude *magnitude)
{
    const bool kahan = wire->accumulate == APS_ACCUMULATE_KAHAN;
    const size_t granule = aps_codec_granule(&wire->codec);
    const size_t most = TILE / granule * granule;
    const bool watch = magnitude && accumulate_hides_overflow(wire);

    if (magnitude)
        *magnitude = (struct aps_magnitude){0, true};
    for (size_t begin = 0; begin < n; begin += most) {
        const size_t length = n - begin < most ? n - begin : most;
        float *const tile = sum + begin;
        float carry[TILE]; /* of Kahan's sum; or the sum of a chunk */
        struct copy copy;

        if (kahan) {
            memset(tile, 0, length * sizeof *tile);
            memset(carry, 0, length * sizeof *carry);
        }
        for (int i = 0; i < count; i++) {
            const struct part part = accumulate_part_of(
                wire, blocks + (size_t)i * stride, begin, length, &copy);

            if (kahan)
                accumulate_add_tile_kahan(wire, part, length, tile, carry);
            else if (wire->chunk > 0)
                accumulate_add_tile_chunked(wire, i, count, part, length, tile,
                                            carry);
            else
                accumulate_add_tile(wire, i, part, length, tile);
            if (watch && wire->chunk > 0 && i >= wire->chunk &&
                i % wire->chunk > 0)
                accumulate_measure(carry, length, magnitude);
            if (watch && i > 0)
                accumulate_measure(tile, length, magnitude);
        }
        if (magnitude)
            accumulate_measure(tile, length, magnitude);
    }
}

struct aps_scale_record aps_accumulate_record(const struct aps_wire *wire,
                                              int count,
                                              const unsigned char *blocks,
                                              size_t stride,
                                              struct aps_magnitude magnitude)
{
    struct aps_scale_record record =
        aps_blocks_record(wire, count, blocks, stride);
    struct aps_scaling scaling;
    unsigned flags;

    if (!wire->records)
        return record;
    if (wire->accumulate == APS_ACCUMULATE_FP32) {
        /* Beyond FP32, as it would be without us. */
        record.nonfinite |= !magnitude.finite && !record.over;
        return record;
    }
    scaling = aps_block_scaling(wire, blocks, &flags);
    /* Also beside an INF of the program's, since nothing tells that a partial
     * sum has not become another one. */
    record.over |= !magnitude.finite;
    if (count > 1 && accumulate_hides_overflow(wire))
        record.over |= ldexp(magnitude.max, scaling.exponent) >=
                       aps_format_max(&wire->sums.format);
    return record;
}
