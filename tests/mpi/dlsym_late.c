/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that finds MPI_Iallreduce only after MPI_Init, like languages that load
 * libraries by name: the library could not know that it would need threads.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>

#include "mpitap.h"

#define COUNT 5000

int main(int argc, char **argv)
{
    static float values[COUNT];
    int (*iallreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm,
                      MPI_Request *);
    MPI_Request request;
    bool right = true;
    int level, status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    MPI_Query_thread(&level);
    ok_all(level != MPI_THREAD_MULTIPLE, "MPI is not made to take threads");
    *(void **)&iallreduce = dlsym(RTLD_DEFAULT, "MPI_Iallreduce");
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)(i % 7);
    iallreduce(MPI_IN_PLACE, values, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
               &request);
    /* Blocking calls of the same communicator first let the library progress. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++)
        right &= values[i] == (float)(i % 7 * mpitap_size());
    ok_all(right, "the sum is right");
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
