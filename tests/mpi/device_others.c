/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_calls.h"

#include <mpi.h>
#include <string.h>

#include "calls.h"
#include "device_buffers.h"
#include "mpitap.h"

static bool scatter(enum where where, size_t share, bool block)
{
    const size_t n = share * (size_t)ranks;
    const struct buffers buffers = buffers_of(where, 1);
    const MPI_Comm comm = MPI_COMM_WORLD;
    int counts[RANKS_MAX];
    int rc;

    for (int i = 0; i < ranks; i++)
        counts[i] = (int)share;
    if (!block) { /* some elements for the first rank from the last rank */
        counts[0] += (int)share / 2;
        counts[ranks - 1] -= (int)share / 2;
    }
    lay_out(&buffers, n, buffers.send ? (size_t)counts[rank] : n);
    if (block) {
        MPI_Reduce_scatter_block(in, expected, (int)share, MPI_FLOAT, MPI_SUM,
                                 comm);
        rc = MPI_Reduce_scatter_block(send_of(&buffers), buffers.receive,
                                      (int)share, MPI_FLOAT, MPI_SUM, comm);
    } else {
        MPI_Reduce_scatter(in, expected, counts, MPI_FLOAT, MPI_SUM, comm);
        rc = MPI_Reduce_scatter(send_of(&buffers), buffers.receive, counts,
                                MPI_FLOAT, MPI_SUM, comm);
    }
    return check(&buffers, n, (size_t)counts[rank]) && rc == MPI_SUCCESS;
}

static bool gather(enum where where, size_t n)
{
    const size_t all = n * (size_t)ranks;
    struct buffers buffers = buffers_of(where, 1);
    int rc;

    lay_out(&buffers, buffers.send ? n : 0, all);
    if (!buffers.send)
        put(buffers.receive + (size_t)rank * n, in, n * sizeof *in);
    MPI_Allgather(in, (int)n, MPI_FLOAT, expected, (int)n, MPI_FLOAT,
                  MPI_COMM_WORLD);
    rc = MPI_Allgather(send_of(&buffers), (int)n, MPI_FLOAT, buffers.receive,
                       (int)n, MPI_FLOAT, MPI_COMM_WORLD);
    return check(&buffers, buffers.send ? n : 0, all) && rc == MPI_SUCCESS;
}

/* Uses a derived type on one rank, so that nothing is rounded. */
static bool gather_pairs(enum where where, size_t n)
{
    const size_t all = n * (size_t)ranks;
    struct buffers buffers = buffers_of(where, 1);
    const bool pairs = rank == 0;
    const int count = (int)(pairs ? n / 2 : n);
    MPI_Datatype pair, type;
    MPI_Request request;
    int rc;

    MPI_Type_contiguous(2, MPI_FLOAT, &pair);
    MPI_Type_commit(&pair);
    type = pairs ? pair : MPI_FLOAT;
    lay_out(&buffers, buffers.send ? n : 0, all);
    if (!buffers.send)
        put(buffers.receive + (size_t)rank * n, in, n * sizeof *in);
    PMPI_Allgather(in, (int)n, MPI_FLOAT, expected, (int)n, MPI_FLOAT,
                   MPI_COMM_WORLD);
    rc = MPI_Iallgather(send_of(&buffers), count, type, buffers.receive, count,
                        type, MPI_COMM_WORLD, &request);
    MPI_Type_free(&pair);
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return check(&buffers, buffers.send ? n : 0, all) && rc == MPI_SUCCESS;
}

static bool reduce(enum where where, size_t n, int root)
{
    struct buffers buffers = buffers_of(where, 1);
    const void *send;
    int rc;

    /* MPICH (4.0.2) crashes in place with long vectors if the root is not 0. */
    if (passes && !buffers.send && n > 64)
        buffers.send = device_in;
    send = send_of(&buffers);
    lay_out(&buffers, n, n);
    memset(expected, 0x5a, n * sizeof *expected);
    if (rank != root && !buffers.send) /* only the root can be in place */
        send = buffers.receive;
    MPI_Reduce(in, expected, (int)n, MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD);
    rc = MPI_Reduce(send, rank == root ? buffers.receive : NULL, (int)n,
                    MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD);
    if (rank != root && !buffers.send)
        return rc == MPI_SUCCESS;
    return check(&buffers, n, n) && rc == MPI_SUCCESS;
}

/* The root's buffer sends, those of the other ranks receive. */
static bool broadcast(enum where where, size_t n, int root)
{
    struct buffers buffers = buffers_of(where, 1);

    buffers.send = NULL;
    lay_out(&buffers, 0, n);
    if (rank == root)
        put(buffers.receive, in, n * sizeof *in);
    memcpy(expected, in, n * sizeof *in);
    MPI_Bcast(expected, (int)n, MPI_FLOAT, root, MPI_COMM_WORLD);
    return MPI_Bcast(buffers.receive, (int)n, MPI_FLOAT, root,
                     MPI_COMM_WORLD) == MPI_SUCCESS &&
           check(&buffers, 0, n);
}

void run_others(void)
{
    static const size_t sizes[] = {64, 777, 40001};

    for (int where = 0; where < WHERES; where++) {
        bool good[5] = {true, true, true, true, true};

        for (size_t i = 0; i < LENGTH(sizes); i++) {
            fill((enum fill)(i % FILLS), (uint64_t)where, rank,
                 sizes[i] * (size_t)ranks, in);
            good[0] &= scatter((enum where)where, sizes[i], true);
            good[0] &= scatter((enum where)where, sizes[i], false);
            good[1] &= gather((enum where)where, sizes[i]);
            for (int root = 0; root < ranks; root++) {
                good[2] &= reduce((enum where)where, sizes[i], root);
                good[4] &= broadcast((enum where)where, sizes[i], root);
            }
        }
        for (size_t i = 0; i < LENGTH(sizes) && !passes; i++)
            good[3] &= gather_pairs((enum where)where, sizes[i] & ~(size_t)1);
        ok_all(good[0], "reduce_scatter: %s", where_names[where]);
        ok_all(good[1], "allgather: %s", where_names[where]);
        ok_all(good[2], "reduce: %s", where_names[where]);
        ok_all(good[4], "bcast: %s", where_names[where]);
        ok_all(good[3], "iallgather of pairs: %s", where_names[where]);
    }
}
