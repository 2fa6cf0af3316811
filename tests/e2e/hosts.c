/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hosts [BYTES [ROUNDS]]: prints the host of each rank. With BYTES, prints the
 * shortest time, in microseconds, in which these reached the last rank from
 * rank 0 and one byte came back.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

static int rank, ranks;

/* COLLECTIVE. Rank 0 collects the names, so that lines stay in order. */
static void print_names(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length;

    MPI_Get_processor_name(name, &length);
    if (rank > 0) {
        MPI_Send(name, sizeof name, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        return;
    }
    printf("rank 0 of %d on %s\n", ranks, name);
    for (int i = 1; i < ranks; i++) {
        MPI_Recv(name, sizeof name, MPI_CHAR, i, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        printf("rank %d of %d on %s\n", i, ranks, name);
    }
}

/* COLLECTIVE */
static void print_time(int bytes, int rounds)
{
    const int last = ranks - 1;
    char *buffer = calloc((size_t)bytes, 1);
    double best = 1e9;

    if (buffer == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < rounds; i++) {
        const double start = MPI_Wtime();

        if (rank == 0) {
            MPI_Send(buffer, bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, 1, MPI_BYTE, last, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else if (rank == last) {
            MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(buffer, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        }
        if (MPI_Wtime() - start < best)
            best = MPI_Wtime() - start;
    }
    if (rank == 0)
        printf("%.0f\n", best * 1e6);
    free(buffer);
}

int main(int argc, char **argv)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && ranks > 1)
        print_time(atoi(argv[1]), argc > 2 ? atoi(argv[2]) : 1);
    else
        print_names();
    MPI_Finalize();
    return 0;
}
