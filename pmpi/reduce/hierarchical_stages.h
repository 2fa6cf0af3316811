/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stages of the reduction `hierarchical`, for hierarchical.c alone.
 *
 * A chunk goes through these stages, in a pipeline over the chunks:
 *
 *   contribute   every rank encodes its chunk into its slot, one block an owner
 *   sum          every owner sums its blocks of all slots in rank order; in a
 *                single group it leaves the encoded sum in the result area
 *   offer, turn, finish
 *                with several groups: `direct` on the sum, between the owners of
 *                the same slice, leaves it there
 *   collect      every rank decodes the result area
 *
 * No stage has a barrier: ranks count what they have done (shm_group.h), and a rank
 * waits only for what it needs. Slots and result areas are used by turns.
 *
 * Slots lie in the host's shared memory, and so do results. Where all ranks of
 * the group have their vectors in GPUs' memory, slots, sums and a single
 * group's results lie there, too (gpu_ipc.h): the same bytes.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_STAGES_H
#define APS_PMPI_REDUCE_HIERARCHICAL_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reduce/algorithm.h"
#include "reduce/chunk.h"
#include "reduce/chunk_buffers.h"
#include "reduce/direct.h"
#include "reduce/exponent.h"
#include "reduce/turns.h"
#include "topo/shm_group.h"
#include "topo/topology.h"

struct aps_hierarchical {
    struct aps_algorithm algorithm; /* of aps_hierarchical_algorithm */
    struct aps_groups groups;
    struct aps_direct *whole;   /* every group is one rank: `direct` alone */
    struct aps_shm_group *node; /* of the slots */
    struct aps_chunk_buffers host;
    struct aps_chunk_buffers devices; /* if GPUs are expected */
    struct aps_direct *across; /* owners, when there are several groups */
    int owners;                /* ranks of a group that own a slice */
    struct aps_exponents sums[APS_SUM_TURNS]; /* on their way across groups */
    struct aps_chunk chunks[APS_HIERARCHICAL_TURNS];
    struct aps_chunk across_chunks[APS_DIRECT_TURNS]; /* between groups */
    size_t done;    /* chunks of all calls before this one */
    uint32_t calls; /* this one included */
    bool broken;    /* ranks of the group have made calls that do not fit */
};

/* One call. */
struct aps_hierarchical_run {
    struct aps_hierarchical *h;
    const struct aps_wire *wire;
    struct aps_wire inside; /* with its blocks where the slots are */
    bool exact_inside;
    const struct aps_chunk_buffers *slots;   /* with the sums */
    const struct aps_chunk_buffers *results; /* the same or the host's */
    struct aps_chunk_layout layout;          /* of both */
    bool lost;                               /* values, by this rank's device */
    struct aps_cut cut;
    struct aps_cost *cost;
    struct aps_cost across; /* of the stage across groups */
    int rc; /* the first error: after it what is sent is empty and nothing is
               decoded, but all stages go on */
};

/* Is there a single group? */
static inline bool aps_hierarchical_is_alone(const struct aps_hierarchical *h)
{
    return h->groups.groups == 1;
}

/*
 * The stages of chunk k, for a pipeline; `state` is a struct
 * aps_hierarchical_run. Offer, turn and finish only where there are several
 * groups.
 */
void aps_hierarchical_contribute(void *state, size_t k);
void aps_hierarchical_sum(void *state, size_t k);
void aps_hierarchical_offer(void *state, size_t k);
void aps_hierarchical_turn(void *state, size_t k);
void aps_hierarchical_finish(void *state, size_t k);
void aps_hierarchical_collect(void *state, size_t k);

/* Elements of the call; and a message where they are not those of another rank of
 * the group. */
uint64_t aps_hierarchical_elements(const struct aps_hierarchical_run *run);
void aps_hierarchical_tell_lengths(const struct aps_hierarchical_run *run,
                                   int other, uint64_t elements);

/* After the last stage of `chunks` chunks: what the program does with its GPU
 * next may take our results, which lie there, from ranks that have not read them
 * yet. */
void aps_hierarchical_leave_results(const struct aps_hierarchical_run *run,
                                    size_t chunks);

/* Are the group's values lost? */
static inline bool
aps_hierarchical_device_failed(const struct aps_hierarchical_run *run)
{
    return run->slots->peers && aps_shm_group_device_failed(run->h->node);
}

#endif
