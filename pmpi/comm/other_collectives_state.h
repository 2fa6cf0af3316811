/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of a communicator for reduce, reduce-scatter, all-gather and broadcast.
 * It is made when a plan first rewrites such a call, and kept until the program
 * frees the communicator.
 */
#ifndef APS_PMPI_COMM_OTHER_COLLECTIVES_STATE_H
#define APS_PMPI_COMM_OTHER_COLLECTIVES_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "gather/allgather.h"
#include "gather/broadcast.h"
#include "policy/policy.h"
#include "message/vcomm.h"
#include "gather/reduce_root.h"
#include "gather/reduce_scatter.h"

/* The log numbers calls of the same kind and count. The numbers are in a hash
 * table of 2^6 slots; two counts may share a slot, and then a number. */
#define APS_OTHER_STATE_BITS 6

/* {0} is an empty state. */
struct aps_other_state {
    struct aps_reduce_scatter *scatter;
    struct aps_reduce_root *rooted;
    struct aps_allgather *gather;
    struct aps_broadcast *broadcast;
    size_t *bounds; /* [ranks + 1]: bounds of the parts of a reduce-scatter */
    size_t granules[APS_CALL_KINDS]; /* granules that the state was made for; 0:
                                        not made */
    long numbers[APS_CALL_KINDS][1 << APS_OTHER_STATE_BITS];
};

/*
 * Local. Prepares for calls of one kind in a format; cheap after the first time. vcomm
 * must be the same at every call and must outlive the state. Returns MPI_SUCCESS or
 * MPI_ERR_NO_MEM.
 */
int aps_other_state_prepare(struct aps_other_state *state,
                            const struct aps_vcomm *vcomm,
                            enum aps_call_kind kind,
                            const struct aps_format *format);

/* Local. Returns the number of the next call of that kind and count, from 0. */
long aps_other_state_number(struct aps_other_state *state,
                            enum aps_call_kind kind, size_t count);

void aps_other_state_clear(struct aps_other_state *state);

#endif
