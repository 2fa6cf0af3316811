/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library to preload before libapsmpi.so that counts what the process sends
 * by MPI: point-to-point messages and their bytes, and collective calls. It
 * catches the PMPI_ functions by which libapsmpi.so sends. A program finds the
 * counts by dlsym(RTLD_DEFAULT, "count_read"). If the variable COUNT names a
 * file, MPI_Finalize appends a line to it: messages, bytes and collectives of
 * all ranks of MPI_COMM_WORLD together.
 */
#include "config.h"

#include "count.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_long count_messages, count_bytes, count_collectives;

EXPORT void count_read(struct counts *counts);

void count_read(struct counts *counts)
{
    counts->messages = count_messages;
    counts->bytes = count_bytes;
    counts->collectives = count_collectives;
}

static void count_message(long n, MPI_Datatype type)
{
    int size = 0;

    PMPI_Type_size(type, &size);
    count_messages++;
    count_bytes += n * size;
}

/* NAME with its parameters and arguments in parentheses; COUNTED runs first. */
#define COUNT(NAME, PARAMETERS, ARGUMENTS, COUNTED)                            \
    EXPORT int NAME PARAMETERS                                                 \
    {                                                                          \
        static int(*next) PARAMETERS;                                          \
                                                                               \
        if (!next)                                                             \
            *(void **)&next = dlsym(RTLD_NEXT, #NAME);                         \
        COUNTED;                                                               \
        return next ARGUMENTS;                                                 \
    }

COUNT(PMPI_Isend,
      (const void *buffer, int count, MPI_Datatype type, int rank, int tag,
       MPI_Comm comm, MPI_Request *request),
      (buffer, count, type, rank, tag, comm, request),
      count_message(count, type))
COUNT(PMPI_Send,
      (const void *buffer, int count, MPI_Datatype type, int rank, int tag,
       MPI_Comm comm),
      (buffer, count, type, rank, tag, comm), count_message(count, type))
COUNT(PMPI_Allreduce,
      (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
       MPI_Comm comm),
      (send, receive, count, type, op, comm), count_collectives++)
COUNT(PMPI_Iallreduce,
      (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
       MPI_Comm comm, MPI_Request *request),
      (send, receive, count, type, op, comm, request), count_collectives++)
COUNT(PMPI_Allgather,
      (const void *send, int sent, MPI_Datatype type, void *receive,
       int received, MPI_Datatype to, MPI_Comm comm),
      (send, sent, type, receive, received, to, comm), count_collectives++)
COUNT(PMPI_Iallgather,
      (const void *send, int sent, MPI_Datatype type, void *receive,
       int received, MPI_Datatype to, MPI_Comm comm, MPI_Request *request),
      (send, sent, type, receive, received, to, comm, request),
      count_collectives++)
COUNT(PMPI_Ibcast,
      (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
       MPI_Request *request),
      (buffer, count, type, root, comm, request), count_collectives++)

/* COLLECTIVE over MPI_COMM_WORLD. */
static void count_append(const char *file)
{
    const long mine[] = {count_messages, count_bytes, count_collectives};
    long all[] = {0, 0, 0};
    int rank;
    FILE *out;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(mine, all, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    out = fopen(file, "a");
    if (!out || fprintf(out, "%ld %ld %ld\n", all[0], all[1], all[2]) < 0 ||
        fclose(out) != 0)
        perror(file);
}

EXPORT int MPI_Finalize(void)
{
    static int (*next)(void);
    const char *file = getenv("COUNT");

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "MPI_Finalize");
    if (file)
        count_append(file);
    return next();
}

#if MPI_VERSION >= 4
COUNT(PMPI_Isend_c,
      (const void *buffer, MPI_Count count, MPI_Datatype type, int rank,
       int tag, MPI_Comm comm, MPI_Request *request),
      (buffer, count, type, rank, tag, comm, request),
      count_message((long)count, type))
#endif
