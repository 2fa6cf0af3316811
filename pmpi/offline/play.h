/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One all-reduce of one vector, whose ranks one process plays in turn. Each
 * algorithm of reduce/ has a function here that cuts, encodes, adds and decodes
 * by the same functions in the same order, without the messages between them.
 */
#ifndef APS_PMPI_OFFLINE_PLAY_H
#define APS_PMPI_OFFLINE_PLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "block/block.h"
#include "cut/chunk.h"

/* The groups of a plan, equal on all ranks: rank r has number place[r] in group
 * group[r]. */
struct aps_play_groups {
    int groups, smallest, largest;
    int *group, *place; /* [ranks] */
    int *size, *first;  /* [groups]: ranks, and the first rank */
};

struct aps_play {
    const struct aps_plan *plan;
    struct aps_wire wire;
    int ranks;
    const struct aps_play_groups *groups; /* NULL: the algorithm has none */
    struct aps_vector *vectors;           /* [ranks]; all have one `out` */
    struct aps_blocks blocks;
    struct aps_cost cost;
    /* True once memory was missing; results are then undefined. */
    bool failed;
};

/* Set vectors[0].out to the sum of all vectors, and *vectors[0].state to the
 * call's record. */
void aps_play_direct(struct aps_play *play);
void aps_play_gather(struct aps_play *play);

/* --- shared by the algorithms ---------------------------------------------- */

/* Returns zeros, or NULL after it has set play->failed. The caller frees
 * them. */
void *aps_play_allocate(struct aps_play *play, size_t count, size_t bytes);

/* Sets the exponents of the vectors of ranks that agree on one: rank first, and
 * each later one of group `group` if there are groups; `size` ranks. */
void aps_play_agree(struct aps_play *play, const struct aps_wire *wire,
                    int group, int size);

/* Returns the exponent of a stage of `size` ranks with these magnitudes. */
int aps_play_stage_exponent(const struct aps_wire *wire, int size,
                            const struct aps_magnitude magnitudes[]);

/* Plays one chunk of `size` ranks, which has one piece: results + owner * stride
 * is the encoded sum of an owner's slice. */
typedef void aps_play_chunk_fn(struct aps_play *play,
                               const struct aps_wire *wire, int size,
                               struct aps_chunk *const chunks[],
                               unsigned char *results, size_t stride);

/* Encodes, adds up and encodes again, like the stages of reduce/direct.h. */
aps_play_chunk_fn aps_play_direct_chunk;

/* Plays the vectors of all ranks in chunks with slices of `length` elements, and
 * decodes the results. */
void aps_play_chunks(struct aps_play *play, size_t length,
                     aps_play_chunk_fn *run);

#endif
