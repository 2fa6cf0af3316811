/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of the reduction `hierarchical` and of one call, shared by its stages:
 * the places of a chunk's slices, sums and results, and how a rank passes
 * values to other ranks in the host's slots and results.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_RUN_H
#define APS_PMPI_REDUCE_HIERARCHICAL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reduce/algorithm.h"
#include "block/block.h"
#include "block/block_queue.h"
#include "cut/chunk.h"
#include "group/chunk_buffers.h"
#include "reduce/direct.h"
#include "cut/exponent.h"
#include "group/store_selector.h"
#include "wire/buffer_depth.h"
#include "group/shm_group.h"
#include "group/topology.h"

struct aps_hierarchical {
    struct aps_algorithm algorithm; /* `reduce: hierarchical` as an algorithm */
    struct aps_groups groups;
    struct aps_algorithm
        *direct_only;           /* every group is one rank, and `direct` reduces
                                 * alone */
    struct aps_shm_group *node; /* shared memory of the slots */
    struct aps_chunk_buffers host;
    struct aps_store_selector handoff; /* stores for the host's slots and
                                        * results */
    struct aps_chunk_buffers devices;  /* buffers in GPU memory, if GPUs are
                                        * expected */
    struct aps_direct *across;    /* owners across groups, if there are several
                                   * groups */
    int owners;                   /* ranks of a group that own a slice */
    struct aps_block_queue queue; /* steps on this rank's GPU */
    struct aps_blocks waiting;    /* blocks in the host's slots and results */
    struct aps_exponents sums[APS_SUM_DEPTH]; /* exponents of sums across
                                               * groups */
    struct aps_chunk chunks[APS_HIERARCHICAL_DEPTH];
    struct aps_chunk across_chunks[APS_DIRECT_DEPTH]; /* chunks across groups */
    size_t done;    /* chunks of all earlier calls */
    uint64_t calls; /* number of calls, including this one */
    bool broken;    /* calls of the group's ranks have differed in length */
};

/* One call. */
struct aps_hierarchical_run {
    struct aps_hierarchical *h;
    const struct aps_wire *wire; /* the wire between groups, and of results */
    struct aps_wire inside; /* the wire inside the group, with blocks where the
                             * slots are */
    bool exact_inside;
    const struct aps_chunk_buffers *slots;   /* buffers of the slots and sums */
    const struct aps_chunk_buffers *results; /* the same buffers, or the
                                              * host's */
    struct aps_chunk_layout layout;          /* layout of slots and results */
    bool lost;                               /* this rank's device has lost
                                              * values */
    struct aps_chunks chunks;
    struct aps_cost *cost;
    struct aps_cost across; /* cost of the stage across groups */
    int rc; /* first error; afterwards messages are empty and nothing is
             * decoded, but all stages continue */
};

/* True if there is a single group. */
static inline bool
aps_hierarchical_is_single_group(const struct aps_hierarchical *h)
{
    return h->groups.groups == 1;
}

/* True if the group's values are lost. */
static inline bool
aps_hierarchical_device_failed(const struct aps_hierarchical_run *run)
{
    return run->slots->peers && aps_shm_group_device_failed(run->h->node);
}

/* --- places of a chunk or a piece ----------------------------------------- */

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

/* Returns the elements of chunk k that this rank owns. */
static inline size_t
aps_stage_own_elements(const struct aps_hierarchical_run *run, size_t k)
{
    const struct aps_hierarchical *h = run->h;
    const int rank = aps_shm_group_rank(h->node);

    return rank < h->owners ? aps_chunk_slice_elements(aps_stage_chunk(run, k),
                                                       h->owners, rank)
                            : 0;
}

/* Returns the elements of a piece of the chunk that this rank owns. */
static inline size_t
aps_stage_own_length(const struct aps_hierarchical_run *run,
                     const struct aps_piece *piece)
{
    return aps_piece_slice(piece, run->h->owners,
                           aps_shm_group_rank(run->h->node))
        .length;
}

/* Returns the offset of a piece in a slice of a slot, or of an exact result. */
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

/* Returns chunk k's slice of `owner` in the slot of a rank. */
static inline unsigned char *
aps_stage_slot_slice(const struct aps_hierarchical_run *run, size_t k, int rank,
                     int owner)
{
    return aps_chunk_buffers_slice(run->slots, &run->layout, run->h->done + k,
                                   rank, owner);
}

/* Returns the result of `owner` for chunk k, with one part for each group. */
static inline unsigned char *
aps_stage_result_slice(const struct aps_hierarchical_run *run, size_t k,
                       int owner)
{
    return aps_chunk_buffers_result(run->results, &run->layout,
                                    run->h->done + k, owner);
}

/* Returns this owner's sum of chunk k. */
static inline float *aps_stage_sum(const struct aps_hierarchical_run *run,
                                   size_t k)
{
    return aps_chunk_buffers_sum(run->slots, run->h->done + k);
}

/* Returns this owner's sum of a piece of chunk k. */
static inline void *aps_stage_sum_of(const struct aps_hierarchical_run *run,
                                     size_t k, const struct aps_piece *piece)
{
    return aps_memory_at(aps_wire_sum_memory(run->wire), aps_stage_sum(run, k),
                         piece->base);
}

/* --- handoff: counted writes that other ranks read ------------------------ */

/* Measures the store selector before chunk k is written in this rank's slot. */
static inline void aps_stage_measure_handoff(struct aps_hierarchical_run *run,
                                             size_t k)
{
    struct aps_hierarchical *h = run->h;
    const struct aps_chunk *chunk = aps_stage_chunk(run, k);
    const int rank = aps_shm_group_rank(h->node);
    size_t bytes;
    int owner;

    if (aps_stage_is_on_devices(run))
        return;
    owner = aps_store_selector_next(&h->handoff);
    if (owner < 0)
        return;
    bytes =
        run->exact_inside
            ? aps_chunk_slice_elements(chunk, h->owners, owner) * sizeof(float)
            : aps_chunk_slice_bytes(chunk, &run->inside, h->owners, owner);
    aps_store_selector_measure(
        &h->handoff, owner, aps_stage_slot_slice(run, k, rank, owner), bytes);
}

static inline void
aps_stage_count_handoff(const struct aps_hierarchical_run *run, int reader,
                        size_t bytes)
{
    if (aps_store_selector_streams(&run->h->handoff, reader))
        run->cost->streamed_bytes += bytes;
}

/* Passes a block of n values, encoded at the address of
 * aps_store_selector_make, to its reader. */
static inline void aps_stage_pass(const struct aps_hierarchical_run *run,
                                  int reader, unsigned char *to, size_t n)
{
    const size_t bytes = aps_block_bytes(&run->inside, n);

    aps_store_selector_pass(&run->h->handoff, reader, to, bytes);
    aps_stage_count_handoff(run, reader, bytes);
}

/* Copies x[n] to a reader as FP32. */
static inline void aps_stage_copy(const struct aps_hierarchical_run *run,
                                  int reader, unsigned char *to, const float *x,
                                  size_t n)
{
    aps_store_selector_copy(&run->h->handoff, reader, to, x, n * sizeof *x);
    aps_stage_count_handoff(run, reader, n * sizeof *x);
}

#endif
