/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fused calls with a different lookahead on each rank: rank 0 makes all its calls
 * before it waits, and the other ranks wait after each call. The library's decisions
 * about a call must not depend on that, or the ranks desynchronise.
 *
 *     ahead passing    counts that no rule matches, among some that share an
 *                      entry of the cache of counts
 *     ahead steps      a step that is lost and found again
 *     ahead auto       a reduction chosen by trials
 *     ahead alone      calls that do not fuse and pass through, on
 *                      communicators whose first calls were nonblocking
 */
#include "config.h"

#include <mpi.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "mpitap.h"

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define MOST 128
#define COUNT 300000

static float in[COUNT], out[MOST][COUNT];
static MPI_Request requests[MOST];
static int counts[MOST];
static int calls;

static void call(int count)
{
    MPI_Iallreduce(in, out[calls], count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &requests[calls]);
    if (mpitap_rank() > 0)
        MPI_Wait(&requests[calls], MPI_STATUS_IGNORE);
    counts[calls++] = count;
}

/* All ranks have the same small integers, whose sums every format holds. */
static bool end(void)
{
    bool right = true;

    MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < calls; i++)
        for (int k = 0; k < counts[i]; k += 97)
            right &= out[i][k] == in[k] * (float)mpitap_size();
    calls = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    return right;
}

/* Returns the index by which steps.c numbers calls without steps. */
static unsigned place_of(int count)
{
    return ((size_t)count * UINT64_C(0x9E3779B97F4A7C15)) >> 56;
}

static void test_passing(void)
{
    const int passed = 2000;
    int alike = 5001, other = 6000;

    while (place_of(alike) != place_of(passed))
        alike++;
    while (place_of(other) == place_of(passed))
        other++;
    for (int round = 0; round < 3; round++) {
        if (mpitap_rank() > 0)
            usleep(20000);
        call(other);
        call(other);
        call(passed);
        call(passed);
        call(alike);
        ok_all(end(), "some pass, some are rewritten, round %d", round);
    }
}

static void test_steps(void)
{
    bool right = true;

    for (int step = 0; step < 140; step++) {
        for (int i = 0; i < 4; i++)
            call(20000 + 1000 * i);
        right &= end();
    }
    ok_all(right, "steps of 4 calls");
    if (mpitap_rank() > 0)
        usleep(50000);
    call(20000);
    call(21000);
    for (int step = 0; step < 5; step++)
        for (int i = 0; i < 6; i++)
            call(10000 + 500 * i);
    ok_all(end(), "one is cut short, and steps of 6 follow");
}

static void test_auto(void)
{
    for (int round = 0; round < 3; round++) {
        if (mpitap_rank() > 0)
            usleep(20000);
        call(COUNT);
        for (int i = 0; i < 60; i++)
            call(150000);
        ok_all(end(), "trials and their outcome, round %d", round);
    }
}

/* A nonblocking call that a rank passed through must not be taken as a model for the
 * next blocking call, which other ranks may have to handle differently. */
static void test_alone(void)
{
    bool right = true;

    for (int round = 0; round < 20; round++) {
        MPI_Comm comm;
        float one = 1, sum[3] = {0};
        MPI_Request small[2];

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (mpitap_rank() == 0)
            call(COUNT); /* under way on this rank only */
        MPI_Iallreduce(&one, &sum[0], 1, MPI_FLOAT, MPI_SUM, comm, &small[0]);
        MPI_Wait(&small[0], MPI_STATUS_IGNORE);
        MPI_Allreduce(&one, &sum[1], 1, MPI_FLOAT, MPI_SUM, comm);
        MPI_Iallreduce(&one, &sum[2], 1, MPI_FLOAT, MPI_SUM, comm, &small[1]);
        MPI_Wait(&small[1], MPI_STATUS_IGNORE);
        if (mpitap_rank() > 0)
            call(COUNT);
        right &= end();
        for (int i = 0; i < 3; i++)
            right &= sum[i] == (float)mpitap_size();
        MPI_Comm_free(&comm);
    }
    ok_all(right, "small calls, nonblocking and blocking alternating");
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(i % 3 - 1);
    if (argc == 2 && strcmp(argv[1], "passing") == 0)
        test_passing();
    else if (argc == 2 && strcmp(argv[1], "steps") == 0)
        test_steps();
    else if (argc == 2 && strcmp(argv[1], "alone") == 0)
        test_alone();
    else
        test_auto();
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
