/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An all-reduce of the program as a call that may be rewritten.
 */
#ifndef APS_PMPI_CALL_ALLREDUCE_CALL_H
#define APS_PMPI_CALL_ALLREDUCE_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "call/call.h"
#include "call/kind.h"

/* Local. An all-reduce with the program's arguments, which blocks unless the caller
 * says otherwise; it has not come in yet (aps_call_enter). */
static inline struct aps_call aps_allreduce_call(const void *send,
                                                 void *receive, int64_t count,
                                                 bool large, MPI_Datatype type,
                                                 MPI_Op op, MPI_Comm comm)
{
    return (struct aps_call){
        .kind = &aps_kind_allreduce,
        .send = send,
        .receive = receive,
        .count = count,
        .large = large,
        .type = type,
        .op = op,
        .comm = comm,
    };
}

#endif
