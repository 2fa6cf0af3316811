/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of a block in host memory, for passes over several arrays that
 * alternate between the arrays part by part, so that the values stay in the
 * core's caches.
 */
#ifndef APS_PMPI_BLOCK_TILE_H
#define APS_PMPI_BLOCK_TILE_H

#include <stddef.h>

#include "block/block.h"

/* Largest number of values of a part, and for the wire: a multiple of its
 * granule. */
#define APS_BLOCK_PART 4096
_Static_assert(APS_BLOCK_PART >= APS_FORMAT_GRANULE_MAX,
               "a part has a granule");
size_t aps_block_part_max(const struct aps_wire *wire);

/* Arguments with which a codec decodes a part. */
struct aps_block_part {
    const unsigned char *values;
    struct aps_scaling scaling;
    unsigned flags;
};

/* Room for a part whose block begins with its own scale. */
struct aps_block_copy {
    unsigned char bytes[APS_BLOCK_PART * sizeof(float) + sizeof(float)];
};

/* Returns values [begin, begin + n) of a block, at most aps_block_part_max,
 * where `begin` is a multiple of aps_block_part_max. The result may point to
 * *copy. */
struct aps_block_part aps_block_part_of(const struct aps_wire *wire,
                                        const unsigned char *block,
                                        size_t begin, size_t n,
                                        struct aps_block_copy *copy);

/* Set x[n] to the part's values, or add them, with one addition for each: of FP32, or
 * of FP64 if the format is wide. */
void aps_block_part_decode(const struct aps_wire *wire,
                           const struct aps_block_part *part, size_t n,
                           float *x);
void aps_block_part_add(const struct aps_wire *wire,
                        const struct aps_block_part *part, size_t n,
                        float *sum);

/* Merges the magnitude of x[n] into *magnitude, which begins as {0, true}. */
void aps_magnitude_add(const float *x, size_t n,
                       struct aps_magnitude *magnitude);

/* Encodes `block`, whose values are delta[n], finite and in host memory, n > 0.
 * Replaces delta[i] by delta[i] minus its rounded value. */
void aps_block_encode_residual(const struct aps_wire *wire,
                               struct aps_block block, float *delta,
                               unsigned char *to, struct aps_cost *cost);

#endif
