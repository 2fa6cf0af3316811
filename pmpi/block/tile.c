/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block/tile.h"

#include <string.h>

#include "base/cpu.h"
#include "compress/feedback.h"

size_t aps_block_part_max(const struct aps_wire *wire)
{
    const size_t granule = aps_codec_granule(&wire->codec);

    return APS_BLOCK_PART / granule * granule;
}

/* The codec expects the scale of the whole block, if the format has one, before
 * the values. */
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

/* --- residuals ------------------------------------------------------------- */

struct leaving {
    const struct aps_wire *wire;
    float *delta;
};

/* Subtracts the values that were just encoded from delta, while it is in the
 * caches. */
static void leaving_see(void *state, size_t begin, size_t n,
                        const unsigned char *values, struct aps_scaling scaling)
{
    const struct leaving *leaving = state;
    const struct aps_block_part part = {.values = values, .scaling = scaling};
    float *const delta = leaving->delta + begin;
    float sent[APS_BLOCK_PART];

    aps_block_part_decode(leaving->wire, &part, n, sent);
    aps_feedback_left(delta, sent, n, aps_cpu_chosen(), delta);
}

void aps_block_encode_residual(const struct aps_wire *wire,
                               struct aps_block block, float *delta,
                               unsigned char *to, struct aps_cost *cost)
{
    const size_t most = aps_block_part_max(wire), n = block.n;
    struct leaving leaving = {wire, delta};
    const struct aps_block_watch watch = {most, leaving_see, &leaving};
    const bool whole = wire->codec.format.piece_bytes > 0;

    block.memory = &aps_memory_host;
    block.x = delta;
    block.watch = whole ? NULL : &watch;
    aps_cost_note(cost, aps_block_encode(wire, &block, to));
    for (size_t begin = 0; whole && begin < n; begin += most) {
        const size_t length = n - begin < most ? n - begin : most;
        struct aps_block_copy copy;
        const struct aps_block_part part =
            aps_block_part_of(wire, to, begin, length, &copy);

        leaving_see(&leaving, begin, length, part.values, part.scaling);
    }
}
