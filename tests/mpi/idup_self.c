/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_idup of a communicator of one process while the library begins
 * reductions: in MPICH 4.0 it never returns, and takes memory without end,
 * while a call that makes any communicator has to try again.
 *
 *     nonblocking   first nonblocking reductions of eight communicators; the
 *                   same thread duplicates MPI_COMM_SELF until they are complete
 *     threads       first blocking reductions of two communicators by two
 *                   threads; a third one duplicates MPI_COMM_SELF meanwhile
 */
#include "config.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 2000
#define COMMS 8
#define ROUNDS 10

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static void fill(float *x)
{
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i % 5);
}

static bool is_right(const float *x)
{
    bool right = true;

    for (int i = 0; i < COUNT; i++)
        right &= x[i] == (float)(i % 5 * mpitap_size());
    return right;
}

static bool duplicate_self(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm copy = MPI_COMM_NULL;

    if (MPI_Comm_idup(MPI_COMM_SELF, &copy, &request) != MPI_SUCCESS ||
        MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
    return MPI_Comm_free(&copy) == MPI_SUCCESS;
}

static bool nonblocking_round(void)
{
    static float values[COMMS][COUNT];
    MPI_Request requests[COMMS];
    MPI_Comm comms[COMMS];
    bool good = true;
    int done = 0;

    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        fill(values[i]);
    }
    for (int i = 0; i < COMMS; i++)
        MPI_Iallreduce(MPI_IN_PLACE, values[i], COUNT, MPI_FLOAT, MPI_SUM,
                       comms[i], &requests[i]);
    while (!done) {
        good &= duplicate_self();
        MPI_Testall(COMMS, requests, &done, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < COMMS; i++) {
        good &= is_right(values[i]);
        MPI_Comm_free(&comms[i]);
    }
    return good;
}

struct blocking {
    pthread_t thread;
    MPI_Comm comm;
    float values[COUNT];
    atomic_int *left;
};

static void *reduce(void *argument)
{
    struct blocking *this = argument;

    MPI_Allreduce(MPI_IN_PLACE, this->values, COUNT, MPI_FLOAT, MPI_SUM,
                  this->comm);
    atomic_fetch_sub(this->left, 1);
    return NULL;
}

static bool threads_round(void)
{
    static struct blocking calls[2];
    atomic_int left = 2;
    bool good = true;

    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &calls[i].comm);
        fill(calls[i].values);
        calls[i].left = &left;
    }
    for (int i = 0; i < 2; i++)
        good &= pthread_create(&calls[i].thread, NULL, reduce, &calls[i]) == 0;
    while (good && left > 0)
        good &= duplicate_self();
    for (int i = 0; i < 2; i++) {
        pthread_join(calls[i].thread, NULL);
        good &= is_right(calls[i].values);
        MPI_Comm_free(&calls[i].comm);
    }
    return good;
}

int main(int argc, char **argv)
{
    const bool threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    bool good = true;
    int level, status;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    if (level < MPI_THREAD_MULTIPLE) {
        skip_all("reductions", "MPI has no MPI_THREAD_MULTIPLE");
    } else {
        for (int round = 0; round < ROUNDS; round++)
            good &= threads ? threads_round() : nonblocking_round();
        ok_all(good, "all reductions are right, all duplicates are made");
    }
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
