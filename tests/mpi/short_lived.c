/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that live for one sum: the library makes no communicator for
 * them. Run it with inject.so preloaded first, which counts. The argument is
 * `blocking` or `nonblocking`.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 2000
#define ROUNDS 50

/* Makes MPI_COMM_WORLD in another order; every second time its lower or upper half. */
static MPI_Comm make(int round)
{
    const int rank = mpitap_rank(), size = mpitap_size();
    MPI_Comm comm;

    if (round % 3 == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
        MPI_Comm_split(MPI_COMM_WORLD, size > 3 && round % 3 == 2 && rank < 2,
                       size - rank, &comm);
    return comm;
}

static bool sum(MPI_Comm comm, bool nonblocking)
{
    static float x[COUNT];
    MPI_Request request;
    bool right = true;
    int size;

    MPI_Comm_size(comm, &size);
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i % 5);
    if (nonblocking) {
        MPI_Iallreduce(MPI_IN_PLACE, x, COUNT, MPI_FLOAT, MPI_SUM, comm,
                       &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(MPI_IN_PLACE, x, COUNT, MPI_FLOAT, MPI_SUM, comm);
    }
    for (int i = 0; i < COUNT; i++)
        right &= x[i] == (float)(i % 5 * size);
    return right;
}

int main(int argc, char **argv)
{
    const bool nonblocking = argc > 1 && strcmp(argv[1], "nonblocking") == 0;
    long (*count)(const char *) = NULL;
    bool good = true;
    int level, status;
    long made;

    *(void **)&count = dlsym(RTLD_DEFAULT, "inject_count");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    if (!count)
        bail_out("inject.so is not preloaded");
    made = count("");
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm = make(round);

        good &= sum(comm, nonblocking);
        MPI_Comm_free(&comm);
    }
    made = count("") - made;
    ok_all(good, "%d communicators, one sum on each: right", ROUNDS);
    if (made > 0)
        diag("rank %d: the library has made %ld communicators", mpitap_rank(),
             made);
    ok_all(made == 0, "the library makes no communicator for them");
    expect_rewritten(ROUNDS);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
