/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls MPI_Allreduce through its address, a stub inside this very program. */
#include "config.h"

#include <mpi.h>

#include "mpitap.h"

static int (*volatile allreduce)(const void *, void *, int, MPI_Datatype,
                                 MPI_Op, MPI_Comm) = MPI_Allreduce;

int main(int argc, char **argv)
{
    static float in[2048], out[2048];
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    in[2047] = 1.25f;
    if (argc == 1)
        allreduce(in, out, 2048, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    ok_all(argc > 1 || out[2047] == (float)mpitap_size(), "rounded");
    expect_rewritten(argc == 1);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
