/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call of any of the other collectives, made by the library or by MPI.
 */
#ifndef APS_TEST_COLLECTIVE_H
#define APS_TEST_COLLECTIVE_H

#include <mpi.h>

enum kind { BLOCK, SCATTER, GATHER, REDUCE };

/* What a kind does not have is not looked at. */
struct collective {
    const char *what;
    enum kind kind;
    const void *send;
    void *receive;
    const int *counts;
    int count;
    MPI_Datatype type;
    int send_count;
    MPI_Datatype send_type;
    MPI_Op op;
    int root;
    MPI_Comm comm;
};

/* COLLECTIVE over call->comm. The call as a program makes it, and past the
 * library. An MPI error code. */
int collective_make(const struct collective *call);
int collective_make_native(const struct collective *call);

#endif
