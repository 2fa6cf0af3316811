/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call of one of the other collectives, made through the library or by MPI.
 */
#ifndef APS_TEST_COLLECTIVE_H
#define APS_TEST_COLLECTIVE_H

#include <mpi.h>

enum kind { BLOCK, SCATTER, GATHER, REDUCE };

/* Fields that a kind does not have are not read. */
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

/* COLLECTIVE over call->comm. Makes the call as a program does, or past the
 * library. Returns an MPI error code. */
int collective_make(const struct collective *call);
int collective_make_native(const struct collective *call);

#endif
