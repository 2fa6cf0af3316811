/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message of one rank fails (fail_once.c), whichever: no rank hangs, every
 * rank gets the right sum or an error, and the next call is right on all.
 *
 *     failing blocking|nonblocking later|first COUNT HOW_OFTEN
 *
 * later: in a call on a communicator that has been reduced on before; first: in
 * the first call on a new one.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define CALLS_MOST 60

static void (*arm)(int receives, long call, long how_often);
static long (*disarm)(void);
static bool blocking, first;
static int rank, ranks, count;
static long how_often;
static float *in, *out;

static int reduce(MPI_Comm comm)
{
    MPI_Request request;
    int rc;

    memset(out, 0, (size_t)count * sizeof *out);
    if (blocking)
        return MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm);
    rc = MPI_Iallreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm, &request);
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

/* All sums are small integers, which every format of the policies holds. */
static bool is_right(void)
{
    for (int i = 0; i < count; i++)
        if (out[i] != (float)(ranks * (i % 3)))
            return false;
    return true;
}

/* COLLECTIVE. Call number `call` of the victim fails: did it? */
static bool fail(MPI_Comm world, int victim, int receives, long call,
                 bool *good)
{
    MPI_Comm comm = world;
    int failed = 0;
    int rc;

    if (first) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    if (rank == victim)
        arm(receives, call, how_often);
    rc = reduce(comm);
    if (rank == victim)
        failed = disarm() > 0;
    if (rc == MPI_SUCCESS && !is_right()) {
        diag("call %ld of rank %d: neither an error nor the sum", call, victim);
        *good = false;
    }
    PMPI_Bcast(&failed, 1, MPI_INT, victim, MPI_COMM_WORLD);
    if (reduce(comm) != MPI_SUCCESS || !is_right()) {
        diag("after call %ld of rank %d: not the sum", call, victim);
        *good = false;
    }
    if (first)
        MPI_Comm_free(&comm);
    return failed;
}

static bool found(void)
{
    *(void **)&arm = dlsym(RTLD_DEFAULT, "fail_once_arm");
    *(void **)&disarm = dlsym(RTLD_DEFAULT, "fail_once_disarm");
    return arm && disarm;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int status, level;

    if (argc != 5 || !found())
        return 99;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    rank = mpitap_rank();
    ranks = mpitap_size();
    blocking = strcmp(argv[1], "blocking") == 0;
    first = strcmp(argv[2], "first") == 0;
    count = atoi(argv[3]);
    how_often = atol(argv[4]);
    in = malloc((size_t)count * sizeof *in);
    out = malloc((size_t)count * sizeof *out);
    for (int i = 0; i < count; i++)
        in[i] = (float)(i % 3);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    /* Of MPI_Wait, which knows no communicator. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    ok_all(reduce(comm) == MPI_SUCCESS && is_right(), "before any failure");
    for (int receives = 0; receives < 2; receives++) {
        bool good = true;

        /* New communicators take their time: there, one victim is enough. */
        for (int victim = first ? ranks - 1 : 0; victim < ranks; victim++)
            for (long call = 1; call <= CALLS_MOST; call++)
                if (!fail(comm, victim, receives, call, &good))
                    break;
        ok_all(good,
               "PMPI_%s fails: the sum or an error, and all is well again",
               receives ? "Irecv" : "Isend");
    }
    MPI_Comm_free(&comm);
    free(in);
    free(out);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
