/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the reduction `hierarchical` share: its state, and a call. */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_STATE_H
#define APS_PMPI_REDUCE_HIERARCHICAL_STATE_H

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
    struct aps_algorithm algorithm; /* of aps_hierarchical_algorithm */
    struct aps_groups groups;
    struct aps_direct
        *direct_only;           /* every group is one rank: `direct` alone */
    struct aps_shm_group *node; /* of the slots */
    struct aps_chunk_buffers host;
    struct aps_store_selector handoff; /* of the host's slots and results */
    struct aps_chunk_buffers devices;  /* if GPUs are expected */
    struct aps_direct *across;    /* owners, when there are several groups */
    int owners;                   /* ranks of a group that own a slice */
    struct aps_block_queue queue; /* of steps on our GPU */
    struct aps_blocks waiting;    /* that are in the host's slots and results */
    struct aps_exponents sums[APS_SUM_DEPTH]; /* on their way across groups */
    struct aps_chunk chunks[APS_HIERARCHICAL_DEPTH];
    struct aps_chunk across_chunks[APS_DIRECT_DEPTH]; /* between groups */
    size_t done;    /* chunks of all calls before this one */
    uint64_t calls; /* this one included */
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
    struct aps_chunks chunks;
    struct aps_cost *cost;
    struct aps_cost across; /* of the stage across groups */
    int rc; /* the first error: after it what is sent is empty and nothing is
               decoded, but all stages go on */
};

/* Is there a single group? */
static inline bool
aps_hierarchical_is_single_group(const struct aps_hierarchical *h)
{
    return h->groups.groups == 1;
}

/* Are the group's values lost? */
static inline bool
aps_hierarchical_device_failed(const struct aps_hierarchical_run *run)
{
    return run->slots->peers && aps_shm_group_device_failed(run->h->node);
}

#endif
