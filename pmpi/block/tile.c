/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block/tile.h"

#include <string.h>

size_t aps_block_part_max(const struct aps_wire *wire)
{
    const size_t granule = aps_codec_granule(&wire->codec);

    return APS_BLOCK_PART / granule * granule;
}

/* What a codec decodes begins with the scale of the whole block, if there is
 * one. */
struct aps_block_part aps_block_part_of(const struct aps_wire *wire,
                                        const unsigned char *block,
                                        size_t begin, size_t n,
                                        struct aps_block_copy *copy)
{
    const struct aps_codec *codec = &wire->codec;
    const size_t scale = (size_t)codec->format.piece_bytes;
    const unsigned char *values = block + aps_block_header_bytes(wire);
    struct aps_block_part part;

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

void aps_block_part_decode(const struct aps_wire *wire,
                           const struct aps_block_part *part, size_t n,
                           float *x)
{
    wire->codec.decode(&wire->codec, part->values, n, part->scaling,
                       part->flags, x);
}

void aps_block_part_add(const struct aps_wire *wire,
                        const struct aps_block_part *part, size_t n, float *sum)
{
    wire->codec.decode_add(&wire->codec, part->values, n, part->scaling,
                           part->flags, sum);
}

void aps_magnitude_add(const float *x, size_t n,
                       struct aps_magnitude *magnitude)
{
    const struct aps_magnitude here = aps_magnitude_of(x, n);

    if (here.max > magnitude->max)
        magnitude->max = here.max;
    magnitude->finite &= here.finite;
}
