/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of a block in host memory, for passes over several arrays that take some
 * values of each by turns, so that these stay in the caches next to the core.
 */
#ifndef APS_PMPI_BLOCK_TILE_H
#define APS_PMPI_BLOCK_TILE_H

#include <stddef.h>

#include "block/block.h"

/* Values of a part at most, and of the wire's: a multiple of its granule. */
#define APS_BLOCK_PART 4096
_Static_assert(APS_BLOCK_PART >= APS_FORMAT_GRANULE_MAX,
               "a part has a granule");
size_t aps_block_part_max(const struct aps_wire *wire);

/* What a codec decodes: its arguments. */
struct aps_block_part {
    const unsigned char *values;
    struct aps_scaling scaling;
    unsigned flags;
};

/* Where it is put if the block begins with a scale of its own. */
struct aps_block_copy {
    unsigned char bytes[APS_BLOCK_PART * sizeof(float) + sizeof(float)];
};

/* Values [begin, begin + n) of a block, from a multiple of aps_block_part_max on
 * and no more than that. What is returned may point to *copy. */
struct aps_block_part aps_block_part_of(const struct aps_wire *wire,
                                        const unsigned char *block,
                                        size_t begin, size_t n,
                                        struct aps_block_copy *copy);

/* x[n] = the part's values; or += them, one FP32 addition each. */
void aps_block_part_decode(const struct aps_wire *wire,
                           const struct aps_block_part *part, size_t n,
                           float *x);
void aps_block_part_add(const struct aps_wire *wire,
                        const struct aps_block_part *part, size_t n,
                        float *sum);

/* Add the magnitude of x[n] to one, which begins as {0, true}. */
void aps_magnitude_add(const float *x, size_t n,
                       struct aps_magnitude *magnitude);

/* Encodes `block`, whose values are delta[n], finite and in host memory, n > 0.
 * delta[i] becomes delta[i] - its rounded value. */
void aps_block_encode_residual(const struct aps_wire *wire,
                               struct aps_block block, float *delta,
                               unsigned char *to, struct aps_cost *cost);

#endif
