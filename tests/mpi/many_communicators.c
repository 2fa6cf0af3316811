/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More communicators at a time than MPI would have context ids for if the library took
 * one for each: 1,500, and one sum on each. The argument is `nonblocking` (all begun,
 * then all completed), `blocking`, or `both`. After nonblocking sums, communicators
 * that live for one sum reuse the threads that are left.
 */
#include "config.h"

#include <dirent.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define COUNT 64
#define COMMS 1500
#define SHORT_LIVED 10

static MPI_Comm comms[COMMS];
static MPI_Request requests[COMMS];
static float values[COMMS][COUNT];
static int errors; /* errors that MPI reported to the program's handler */

static void handle(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    (void)comm;
    MPI_Error_string(*code, text, &length);
    if (errors++ == 0)
        diag("rank %d: an error handler is called: %s", mpitap_rank(), text);
}

static void fill(void)
{
    for (int c = 0; c < COMMS; c++)
        for (int i = 0; i < COUNT; i++)
            values[c][i] = (float)((c + i) % 7);
}

static bool is_right(void)
{
    bool right = true;

    for (int c = 0; c < COMMS; c++)
        for (int i = 0; i < COUNT; i++)
            right &= values[c][i] == (float)((c + i) % 7 * mpitap_size());
    return right;
}

/* Returns the number of threads of this process, or 0. */
static int count_threads(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    int threads = 0;

    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Threads: %d", &threads) == 1)
            break;
    if (status)
        fclose(status);
    return threads;
}

/* Returns the number of this process's newest thread. */
static long newest_thread(void)
{
    DIR *threads = opendir("/proc/self/task");
    struct dirent *entry;
    long newest = 0;

    while (threads && (entry = readdir(threads)))
        if (atol(entry->d_name) > newest)
            newest = atol(entry->d_name);
    if (threads)
        closedir(threads);
    return newest;
}

static void test_short_lived(void)
{
    long newest = 0;

    for (int i = 0; i < SHORT_LIVED; i++) {
        MPI_Request request;
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Iallreduce(MPI_IN_PLACE, values[0], COUNT, MPI_FLOAT, MPI_SUM, comm,
                       &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (i == 0)
            newest = newest_thread();
        MPI_Comm_free(&comm);
    }
    ok_all(newest_thread() == newest,
           "%d communicators in turn make do with the threads that there are",
           SHORT_LIVED);
}

static void test_nonblocking(void)
{
    const int before = count_threads();
    bool good = true;
    int more;

    fill();
    for (int c = 0; c < COMMS; c++)
        good &= MPI_Iallreduce(MPI_IN_PLACE, values[c], COUNT, MPI_FLOAT,
                               MPI_SUM, comms[c], &requests[c]) == MPI_SUCCESS;
    ok_all(good, "%d nonblocking sums begin", COMMS);
    more = count_threads() - before;
    if (more > 20)
        diag("rank %d has %d threads more", mpitap_rank(), more);
    ok_all(more <= 20, "... with a few threads for all");
    good = MPI_Waitall(COMMS, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
    ok_all(good, "... and complete");
    ok_all(is_right(), "... and are right");
}

static void test_blocking(void)
{
    bool good = true;

    fill();
    for (int c = 0; c < COMMS; c++)
        good &= MPI_Allreduce(MPI_IN_PLACE, values[c], COUNT, MPI_FLOAT,
                              MPI_SUM, comms[c]) == MPI_SUCCESS;
    ok_all(good, "%d blocking sums succeed", COMMS);
    ok_all(is_right(), "... and are right");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const bool blocks = strcmp(what, "nonblocking") != 0;
    const bool starts = strcmp(what, "blocking") != 0;
    MPI_Errhandler handler;
    int level, status, made = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int c = 0; c < COMMS; c++) {
        made += MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]) == MPI_SUCCESS;
        MPI_Comm_set_errhandler(comms[c], handler);
    }
    ok_all(made == COMMS, "%d communicators", COMMS);
    if (starts)
        test_nonblocking();
    if (blocks)
        test_blocking();
    ok_all(errors == 0, "no error handler is called");
    for (int c = COMMS - 1; c >= 0; c--) /* the first have threads */
        MPI_Comm_free(&comms[c]);
    MPI_Errhandler_free(&handler);
    if (starts)
        test_short_lived();
    expect_rewritten(
        (unsigned long)(COMMS * (blocks + starts) + SHORT_LIVED * starts));
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
