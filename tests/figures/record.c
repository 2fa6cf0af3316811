/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library to preload that records a program's inputs: each MPI_Allreduce of
 * at least RECORD_MIN floats (default 1024) appends
 *
 *     int64_t n;  float x[n];      in the machine's byte order
 *
 * to the file $RECORD.RANK, where x is what this rank contributes and RANK is the
 * rank in MPI_COMM_WORLD. Without RECORD it writes nothing. The sums are those of the
 * next library.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static FILE *record_file;

static FILE *record_open(void)
{
    const char *prefix = getenv("RECORD");
    char path[4096];
    int rank;

    if (record_file || !prefix || !*prefix)
        return record_file;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", prefix, rank);
    record_file = fopen(path, "wb");
    if (!record_file) {
        perror(path);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    return record_file;
}

static void record(const void *send, const void *receive, int64_t n,
                   MPI_Datatype type, MPI_Op op)
{
    const void *x = send == MPI_IN_PLACE ? receive : send;
    const char *least = getenv("RECORD_MIN");
    FILE *file;

    if (type != MPI_FLOAT || op != MPI_SUM ||
        n < (least ? strtoll(least, NULL, 10) : 1024))
        return;
    file = record_open();
    if (!file)
        return;
    if (fwrite(&n, sizeof n, 1, file) != 1 ||
        fwrite(x, sizeof(float), (size_t)n, file) != (size_t)n ||
        fflush(file) != 0) {
        perror("RECORD");
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* NAME with the type of its count. */
#define RECORD(NAME, COUNT)                                                    \
    EXPORT int NAME(const void *send, void *receive, COUNT count,              \
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm)               \
    {                                                                          \
        static int (*next)(const void *, void *, COUNT, MPI_Datatype, MPI_Op,  \
                           MPI_Comm);                                          \
                                                                               \
        if (!next)                                                             \
            *(void **)&next = dlsym(RTLD_NEXT, #NAME);                         \
        record(send, receive, count, type, op);                                \
        return next(send, receive, count, type, op, comm);                     \
    }

RECORD(MPI_Allreduce, int)
#if MPI_VERSION >= 4
RECORD(MPI_Allreduce_c, MPI_Count)
#endif
