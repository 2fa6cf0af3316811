/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What reducing one layer's inputs by several plans needs: what each of them keeps of
 * layers from sample to sample, as the calls that are rewritten keep theirs, and
 * scratch.
 */
#ifndef APS_PMPI_COMM_CANDIDATES_H
#define APS_PMPI_COMM_CANDIDATES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "comm/communicator.h"

/* A rule's own plan may stand before its candidates. */
#define APS_CANDIDATES_MAX (APS_SHADOW_MAX + 1)

/* Zeros: nothing yet. */
struct aps_candidates {
    struct aps_carried_state kept[APS_CANDIDATES_MAX];
    bool warned_rules[APS_CANDIDATES_MAX]; /* it cannot run here: it is said */
    float *out;                            /* [room], of candidates */
    size_t room;
    atomic_ullong
        *needed; /* counts the bytes of `out` and of the reference, of all
                              communicators the most; NULL: nobody asks */
    struct aps_sample sample; /* the reference */
};

/* Local. Free all of it; zeros: nothing. */
void aps_candidates_clear(struct aps_candidates *candidates);

/*
 * COLLECTIVE over the context's communicator. Room for n elements; all ranks have come
 * when it returns. The same on all ranks: false if any of them is not `well`, or has
 * no memory.
 */
bool aps_candidates_equip(struct aps_context *context,
                          struct aps_candidates *candidates, size_t n,
                          bool well);

#endif
