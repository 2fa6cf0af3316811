/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator of this process alone is duplicated while the communicators
 * that the library makes for two nonblocking reductions take context ids: rank
 * 0 has begun both, and all ranks the second one, which must try twice to get
 * an id. Between the two tries MPICH 4.0 stays in its MPI_Comm_idup for ever.
 * The other ranks begin the first reduction later: no rank may wait for them.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>

#include "mpitap.h"

#define COUNT 1000
#define ROUNDS 40

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static float values[2][COUNT];

static void begin(MPI_Comm comm, float *x, MPI_Request *request)
{
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i % 5);
    MPI_Iallreduce(MPI_IN_PLACE, x, COUNT, MPI_FLOAT, MPI_SUM, comm, request);
}

static bool is_right(const float *x)
{
    bool right = true;

    for (int i = 0; i < COUNT; i++)
        right &= x[i] == (float)(i % 5 * mpitap_size());
    return right;
}

/* Duplicates a communicator of this process alone. */
static bool duplicate_alone(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    int index = -1, size = 0, relation = MPI_UNEQUAL, one = 1;

    MPI_Comm_idup(MPI_COMM_SELF, &copy, &request);
    if (request == MPI_REQUEST_NULL)
        return false;
    MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
    if (index != 0 || request != MPI_REQUEST_NULL)
        return false;
    MPI_Comm_size(copy, &size);
    MPI_Comm_compare(MPI_COMM_SELF, copy, &relation);
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, copy);
    MPI_Comm_free(&copy);
    return size == 1 && relation == MPI_CONGRUENT && one == 1;
}

/* Makes one more round, after `looks` tests of the second reduction. */
static bool run_round(int looks)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Comm comms[2];
    bool good = true;
    int done, token = 0;

    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    if (mpitap_rank() == 0)
        begin(comms[0], values[0], &requests[0]);
    begin(comms[1], values[1], &requests[1]);
    if (mpitap_rank() == 0) {
        for (int i = 0; i < looks; i++)
            MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
        good = duplicate_alone();
        for (int i = 1; i < mpitap_size(); i++)
            MPI_Send(&token, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        begin(comms[0], values[0], &requests[0]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comms[i]);
    return good && is_right(values[0]) && is_right(values[1]);
}

int main(int argc, char **argv)
{
    bool good = true;
    int level, status;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    ok_all(duplicate_alone(), "a communicator of one process is duplicated");
    for (int round = 0; round < ROUNDS; round++)
        good &= run_round(2 * round);
    ok_all(good, "and while two reductions begin, which are right");
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
