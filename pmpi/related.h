/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a communicator needs for the relatives of the all-reduce: made the first
 * time a plan rewrites such a call, and kept until the communicator is freed.
 */
#ifndef APS_PMPI_RELATED_H
#define APS_PMPI_RELATED_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "allgather.h"
#include "policy/policy.h"
#include "rooted.h"
#include "scatter.h"

/* Calls of one kind and count are numbered among themselves. Counts that share
 * a place share a number; it serves the log alone. */
#define APS_RELATED_PLACES 64

/* {0} is one that nothing has been made for. */
struct aps_related {
    struct aps_scatter *scatter;
    struct aps_rooted *rooted;
    struct aps_allgather *gather;
    size_t *bounds; /* [ranks + 1]: of the shares of a reduce-scatter */
    enum {
        APS_RELATED_NEW,
        APS_RELATED_READY,
        APS_RELATED_FAILED
    } state[APS_CALL_KINDS];
    long numbers[APS_CALL_KINDS][APS_RELATED_PLACES];
};

/*
 * COLLECTIVE over comm, an internal communicator, the same at every call. Get
 * ready for calls of one kind: cheap when it was done before. 0 on all ranks or
 * -1 on all ranks: out of memory, now and for ever.
 */
int aps_related_prepare(struct aps_related *related, MPI_Comm comm,
                        enum aps_call_kind kind);

/* The number of the next call of that kind, from 0. */
long aps_related_number(struct aps_related *related, enum aps_call_kind kind,
                        size_t count);

void aps_related_clear(struct aps_related *related);

#endif
