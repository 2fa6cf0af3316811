/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 has freed communicators that the last rank still has, and uses up all of its
 * blocks of tags, except those that are not free: later communicators get other blocks.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>

#include "mpitap.h"

#define COUNT 64
#define HELD 8     /* the number of blocks offered to a communicator */
#define COMMS 1500 /* at a time */
#define ROUNDS 6 /* 9,000 communicators: more than the 8,192 blocks of MPICH */

static float in[COUNT], out[COUNT];

static void make(int n, MPI_Comm comms[])
{
    for (int i = 0; i < n; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comms[i]);
    }
}

static void free_all(int n, MPI_Comm comms[])
{
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&comms[i]);
}

int main(int argc, char **argv)
{
    static MPI_Comm held[HELD], comms[COMMS];
    bool last, right = true;
    int level, status;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    last = mpitap_rank() == mpitap_size() - 1;
    make(HELD, held);
    if (!last)
        free_all(HELD, held);
    for (int round = 0; round < ROUNDS; round++) {
        make(COMMS, comms);
        free_all(COMMS, comms);
    }
    /* The first communicators may meet the blocks that are not free. */
    make(HELD, comms);
    for (int i = 0; i < COUNT; i++)
        in[i] = 1;
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comms[HELD - 1]);
    for (int i = 0; i < COUNT; i++)
        right &= out[i] == (float)mpitap_size();
    ok_all(right, "the sum on the last of %d communicators",
           HELD + ROUNDS * COMMS + HELD);
    free_all(HELD, comms);
    if (last)
        free_all(HELD, held);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
