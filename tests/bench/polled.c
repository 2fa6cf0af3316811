/* SPDX-License-Identifier: BSD-3-Clause */
/* Seconds of nonblocking sums that a program tests in a loop: polled CALL, where CALL
 * is test, testall or testsome. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define SUMS 300
#define COUNT 1500

static float in[COUNT], out[COUNT];

static void wait_by(const char *call, MPI_Request *request)
{
    int done = 0, index;
    MPI_Status status;

    while (!done)
        if (strcmp(call, "testall") == 0)
            MPI_Testall(1, request, &done, &status);
        else if (strcmp(call, "testsome") == 0)
            MPI_Testsome(1, request, &done, &index, &status);
        else
            MPI_Test(request, &done, &status);
}

int main(int argc, char **argv)
{
    const char *call = argc > 1 ? argv[1] : "test";
    double begin, taken;
    int level, rank;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(rank + 1) / (float)(i + 1);
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < SUMS; i++) {
        MPI_Request request;

        in[i] = -in[i]; /* other values in each sum */
        MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       &request);
        wait_by(call, &request);
    }
    taken = MPI_Wtime() - begin;
    if (rank == 0)
        printf("%.4f\n", taken);
    MPI_Finalize();
    return 0;
}
