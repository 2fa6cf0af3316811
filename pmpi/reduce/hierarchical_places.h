/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a chunk's slices, sums and results lie while `hierarchical` runs, and what of
 * them is this rank's: for its stages. All are of the chunk or piece that they are
 * given, and local.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_PLACES_H
#define APS_PMPI_REDUCE_HIERARCHICAL_PLACES_H

#include "reduce/hierarchical_state.h"

static inline struct aps_chunk *
aps_stage_chunk(const struct aps_hierarchical_run *run, size_t k)
{
    return &run->h->chunks[k % APS_HIERARCHICAL_DEPTH];
}

static inline struct aps_chunk *
aps_stage_across_chunk(const struct aps_hierarchical_run *run, size_t k)
{
    return &run->h->across_chunks[k % APS_DIRECT_DEPTH];
}

/* How many elements of chunk k this rank owns. */
static inline size_t
aps_stage_own_elements(const struct aps_hierarchical_run *run, size_t k)
{
    const struct aps_hierarchical *h = run->h;
    const int rank = aps_shm_group_rank(h->node);

    return rank < h->owners ? aps_chunk_slice_elements(aps_stage_chunk(run, k),
                                                       h->owners, rank)
                            : 0;
}

/* And of a piece of it. */
static inline size_t
aps_stage_own_length(const struct aps_hierarchical_run *run,
                     const struct aps_piece *piece)
{
    return aps_piece_slice(piece, run->h->owners,
                           aps_shm_group_rank(run->h->node))
        .length;
}

/* Where a piece lies in a slice of a slot, or of an exact result. */
static inline size_t
aps_stage_slot_offset(const struct aps_hierarchical_run *run,
                      const struct aps_piece *piece)
{
    return run->exact_inside ? piece->base * sizeof(float) : piece->offset;
}

static inline bool aps_stage_is_owner(const struct aps_hierarchical *h)
{
    return aps_shm_group_rank(h->node) < h->owners;
}

static inline bool
aps_stage_is_on_devices(const struct aps_hierarchical_run *run)
{
    return run->slots->peers != NULL;
}

/* Chunk k's slice of `owner` in the slot of a rank, ... */
static inline unsigned char *
aps_stage_slot_slice(const struct aps_hierarchical_run *run, size_t k, int rank,
                     int owner)
{
    return aps_chunk_buffers_slice(run->slots, &run->layout, run->h->done + k,
                                   rank, owner);
}

/* ... its result, one part a group, ... */
static inline unsigned char *
aps_stage_result_slice(const struct aps_hierarchical_run *run, size_t k,
                       int owner)
{
    return aps_chunk_buffers_result(run->results, &run->layout,
                                    run->h->done + k, owner);
}

/* ... and this owner's sum. */
static inline float *aps_stage_sum(const struct aps_hierarchical_run *run,
                                   size_t k)
{
    return aps_chunk_buffers_sum(run->slots, run->h->done + k);
}

#endif
