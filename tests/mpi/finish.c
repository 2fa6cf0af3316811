/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of MPI: one rank prints TAP by itself, because the other ranks may be in
 * MPI_Finalize already.
 *
 *     finish late SECONDS  the last rank makes its call SECONDS after the other ranks,
 *                          which do not wait for it, have come to MPI_Finalize
 *     finish lost          rank 0 makes a call that no other rank makes
 *     finish threads       prints the number of threads of the process after calls on
 *                          some communicators and MPI_Finalize
 */
#include "config.h"

#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT 4096
#define COMMS 4

static float in[COUNT], out[COUNT];
static int rank, ranks;

static int is_right(void)
{
    for (int i = 0; i < COUNT; i++)
        if (out[i] != (float)ranks)
            return 0;
    return 1;
}

static void reduce(MPI_Comm comm)
{
    MPI_Request request;

    MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Makes one more call, for which only the last rank waits. */
static void late(unsigned seconds)
{
    MPI_Request request;

    reduce(MPI_COMM_WORLD);
    memset(out, 0, sizeof out);
    if (rank == ranks - 1) {
        sleep(seconds);
        reduce(MPI_COMM_WORLD);
        printf("1..1\n%s 1 - the last rank gets the sum\n",
               is_right() ? "ok" : "not ok");
        fflush(stdout);
    } else {
        MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       &request);
    }
    MPI_Finalize();
}

static void lost(void)
{
    MPI_Request request;

    reduce(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       &request);
    MPI_Finalize();
    if (rank == 0)
        puts("1..1\nok 1 - MPI_Finalize returns");
}

static int threads_of_process(void)
{
    DIR *directory = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;

    while (directory && (entry = readdir(directory)))
        count += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return count;
}

static void threads(void)
{
    MPI_Comm comm[COMMS];
    MPI_Request request;

    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        reduce(comm[i]);
    }
    MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &request);
    MPI_Barrier(comm[0]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm[1]);
    MPI_Finalize();
    if (rank == 0)
        printf("1..1\nok 1 - MPI_Finalize returns\n# threads: %d\n",
               threads_of_process());
}

int main(int argc, char **argv)
{
    int provided;

    if (argc < 2)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < COUNT; i++)
        in[i] = 1;
    if (strcmp(argv[1], "late") == 0)
        late(argc > 2 ? (unsigned)atoi(argv[2]) : 3);
    else if (strcmp(argv[1], "lost") == 0)
        lost();
    else
        threads();
    return 0;
}
