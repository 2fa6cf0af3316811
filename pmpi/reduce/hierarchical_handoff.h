/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank writes in the host's slots and results for others to read while
 * `hierarchical` runs, by its handoff, and counted: for its stages.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_HANDOFF_H
#define APS_PMPI_REDUCE_HIERARCHICAL_HANDOFF_H

#include "reduce/hierarchical_places.h"

/* Before chunk k: what another rank has read of our slot, and will read again. */
static inline void aps_stage_begin_handoff(struct aps_hierarchical_run *run,
                                           size_t k)
{
    struct aps_hierarchical *h = run->h;
    const int rank = aps_shm_group_rank(h->node);
    const int owner = rank == 0 ? 1 : 0;
    struct aps_slice slice;

    if (owner >= h->owners || aps_stage_is_on_devices(run))
        return;
    slice =
        aps_piece_slice(&aps_stage_chunk(run, k)->pieces[0], h->owners, owner);
    aps_handoff_begin(&h->handoff, aps_stage_slot_slice(run, k, rank, owner),
                      aps_block_bytes(&run->inside, slice.length));
}

static inline void
aps_stage_count_handoff(const struct aps_hierarchical_run *run, size_t bytes)
{
    if (run->h->handoff.streams)
        run->cost->streamed_bytes += bytes;
}

/* A block of n values, made where aps_handoff_make says, to ranks that read it. */
static inline void aps_stage_pass(const struct aps_hierarchical_run *run,
                                  unsigned char *to, size_t n)
{
    const size_t bytes = aps_block_bytes(&run->inside, n);

    aps_handoff_pass(&run->h->handoff, to, bytes);
    aps_stage_count_handoff(run, bytes);
}

/* x[n] to ranks that read it as FP32. */
static inline void aps_stage_copy(const struct aps_hierarchical_run *run,
                                  unsigned char *to, const float *x, size_t n)
{
    aps_handoff_copy(&run->h->handoff, to, x, n * sizeof *x);
    aps_stage_count_handoff(run, n * sizeof *x);
}

#endif
