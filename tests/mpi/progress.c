/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI progresses inside a rewritten call: rank 1 comes to the call only after
 * it has received a large message whose sender already waits in the call.
 *
 * progress REWRITTEN: number of its calls that are rewritten
 */
#include "config.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 4096
#define MESSAGE (8 << 20)
#define ROUNDS 3

static float in[COUNT], out[COUNT];
static char *message;

/* Rank `from` sends before the call, rank `to` receives before the call. */
static bool reduce_across(int from, int to)
{
    const int rank = mpitap_rank();
    MPI_Request request = MPI_REQUEST_NULL;
    bool good = true;

    if (rank == from) {
        memset(message, 'a' + from, MESSAGE);
        MPI_Isend(message, MESSAGE, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request);
    }
    if (rank == to) {
        memset(message, 0, MESSAGE);
        MPI_Recv(message, MESSAGE, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        good = message[0] == 'a' + from && message[MESSAGE - 1] == 'a' + from;
    }
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++)
        good &= out[i] == (float)mpitap_size();
    return good;
}

int main(int argc, char **argv)
{
    int status, last;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    last = mpitap_size() - 1;
    message = malloc(MESSAGE);
    for (int i = 0; i < COUNT; i++)
        in[i] = 1;
    for (int i = 0; i < ROUNDS; i++) {
        ok_all(reduce_across(0, 1), "rank 1 receives from 0 and comes late");
        ok_all(reduce_across(last, 0), "rank 0 receives from the last");
        ok_all(reduce_across(0, last), "the last receives from rank 0");
    }
    free(message);
    expect_rewritten(strtoul(argv[1], NULL, 10));
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
