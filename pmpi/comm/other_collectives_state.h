/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a communicator needs for the relatives of the all-reduce: made the first
 * time a plan rewrites such a call, and kept until the communicator is freed.
 */
#ifndef APS_PMPI_COMM_OTHER_COLLECTIVES_STATE_H
#define APS_PMPI_COMM_OTHER_COLLECTIVES_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "reduce/allgather.h"
#include "policy/policy.h"
#include "progress/vcomm.h"
#include "reduce/reduce_root.h"
#include "reduce/reduce_scatter.h"

/* Calls of one kind and count are numbered among themselves. Counts that share
 * a place share a number; it serves the log alone. */
#define APS_OTHER_STATE_PLACES 64

/* {0} is one that nothing has been made for. */
struct aps_other_state {
    struct aps_reduce_scatter *scatter;
    struct aps_reduce_root *rooted;
    struct aps_allgather *gather;
    size_t *bounds; /* [ranks + 1]: of the shares of a reduce-scatter */
    enum {
        APS_OTHER_STATE_NEW,
        APS_OTHER_STATE_READY,
        APS_OTHER_STATE_FAILED
    } state[APS_CALL_KINDS];
    long numbers[APS_CALL_KINDS][APS_OTHER_STATE_PLACES];
};

/*
 * COLLECTIVE over vcomm, the same at every call, which outlives the state. Get
 * ready for calls of one kind: cheap when it was done before. 0 on all ranks or
 * -1 on all ranks: out of memory, now and for ever.
 */
int aps_other_state_prepare(struct aps_other_state *related,
                            const struct aps_vcomm *vcomm,
                            enum aps_call_kind kind);

/* The number of the next call of that kind, from 0. */
long aps_other_state_number(struct aps_other_state *related,
                            enum aps_call_kind kind, size_t count);

void aps_other_state_clear(struct aps_other_state *related);

#endif
