/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that blocks in a reduction progresses MPI, although it has a message of
 * the library that it cannot receive yet: the other ranks have begun an all-gather
 * that rank 1 begins only after the reduction. They reach the reduction after a
 * barrier of MPI, whose messages rank 1 must forward inside the reduction.
 */
#include "config.h"

#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "mpitap.h"

#define COUNT 2000
#define RANKS 3

static float in[COUNT], out[RANKS * COUNT];

static void gather(MPI_Comm comm, MPI_Request *request)
{
    MPI_Iallgather(in, COUNT, MPI_FLOAT, out, COUNT, MPI_FLOAT, comm, request);
}

int main(int argc, char **argv)
{
    MPI_Request gathered, barrier;
    MPI_Comm comms[2];
    float sums[COUNT];
    bool late;
    int level, status, done;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    late = mpitap_rank() == 1;
    for (int i = 0; i < COUNT; i++)
        in[i] = 1;
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    /* After its first call a communicator has all that it needs: a reduction
     * inside a node exchanges no messages, and an all-gather begins with one. */
    MPI_Allreduce(in, sums, COUNT, MPI_FLOAT, MPI_SUM, comms[0]);
    MPI_Allgather(in, COUNT, MPI_FLOAT, out, COUNT, MPI_FLOAT, comms[1]);
    if (!late)
        gather(comms[1], &gathered);
    /* The messages of the all-gather are sent. */
    for (int i = 0; i < 100 && !late; i++) {
        MPI_Test(&gathered, &done, MPI_STATUS_IGNORE);
        usleep(1000);
    }
    meet();
    if (!late)
        usleep(200000);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    if (!late)
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Allreduce(in, sums, COUNT, MPI_FLOAT, MPI_SUM, comms[0]);
    if (late) {
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        gather(comms[1], &gathered);
    }
    MPI_Wait(&gathered, MPI_STATUS_IGNORE);
    ok_all(memcmp(out, in, sizeof in) == 0 && sums[0] == (float)RANKS,
           "a reduction while an all-gather waits for this rank");
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comms[i]);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
