/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank writes in the host's slots and results for others to read while
 * `hierarchical` runs, by its handoff, and counted: for its stages.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_HANDOFF_H
#define APS_PMPI_REDUCE_HIERARCHICAL_HANDOFF_H

#include "reduce/hierarchical_places.h"

/* Before chunk k is written in our slot. */
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

/* A block of n values, made where aps_store_selector_make says, to its reader. */
static inline void aps_stage_pass(const struct aps_hierarchical_run *run,
                                  int reader, unsigned char *to, size_t n)
{
    const size_t bytes = aps_block_bytes(&run->inside, n);

    aps_store_selector_pass(&run->h->handoff, reader, to, bytes);
    aps_stage_count_handoff(run, reader, bytes);
}

/* x[n] to a reader as FP32. */
static inline void aps_stage_copy(const struct aps_hierarchical_run *run,
                                  int reader, unsigned char *to, const float *x,
                                  size_t n)
{
    aps_store_selector_copy(&run->h->handoff, reader, to, x, n * sizeof *x);
    aps_stage_count_handoff(run, reader, n * sizeof *x);
}

#endif
