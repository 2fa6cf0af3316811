/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `reduce: auto` on ranks that arrive at different times, and so measure different
 * times. All ranks must try and choose the same reductions, and the sum is right. The
 * counts lie in three classes of sizes, one of them below min_count.
 *
 *     auto         the test that the first sentences describe
 *     auto left    counts of which each has a class of its own, and the last has
 *                  none, since there are too many: its calls are MPI's for good,
 *                  blocking and nonblocking, also while numbered calls are under way
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpitap.h"

#define COUNT_MAX 70001

static const struct {
    size_t count;
    int calls; /* more than the trials of all candidates */
} classes[] = {{100, 3}, {1500, 80}, {2000, 5}, {COUNT_MAX, 24}};

static float in[COUNT_MAX], out[COUNT_MAX];

/* Sleeps up to half a millisecond, differently on each rank. */
static void dawdle(void)
{
    const struct timespec nap = {.tv_nsec = rand() % 500000};

    nanosleep(&nap, NULL);
}

/* One call; e5m7 has an error of at most 2^-8 a rounding. */
static bool reduce(size_t count, bool in_place)
{
    const int size = mpitap_size();
    const float *sum = in_place ? in : out;
    bool good = true;

    for (size_t i = 0; i < count; i++)
        in[i] = (float)(mpitap_rank() + 1) * (float)(i % 97 + 1);
    dawdle();
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, in_place ? in : out, (int)count,
                  MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < count; i++) {
        const double exact = size * (size + 1) / 2.0 * (double)(i % 97 + 1);

        good &= fabs((double)sum[i] - exact) <= exact * 4 / 256;
    }
    return same_on_all(sum, count * sizeof *sum) && good;
}

#define FIRST 1500
#define CLASSES 64 /* the capacity of comm/autotune.h */

/* True if a call of values that e5m7 cannot hold has the bits of MPI's own. */
static bool is_left(int count, bool nonblocking)
{
    static float sum[FIRST + CLASSES];
    MPI_Request request;

    for (int i = 0; i < count; i++)
        in[i] = (float)(mpitap_rank() + 1) + (float)i * 0x1p-12f;
    dawdle();
    PMPI_Allreduce(in, sum, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    memset(out, 0, (size_t)count * sizeof *out);
    if (nonblocking) {
        MPI_Iallreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    return memcmp(sum, out, (size_t)count * sizeof *sum) == 0;
}

static void check_left(void)
{
    const int last = FIRST + CLASSES;
    bool good = true, left = true, beside = true;

    for (int i = 0; i < CLASSES; i++)
        good &= reduce((size_t)(FIRST + i), false);
    ok_all(good, "one call in each of %d classes", CLASSES);
    for (int i = 0; i < 20; i++)
        left &= is_left(last, i % 5 == 0);
    ok_all(left, "calls without a class have the bits of MPI's own sum");
    for (int i = 0; i < 20; i++) {
        beside &= reduce((size_t)(FIRST + i), i % 2);
        left &= is_left(last, i % 3 == 0);
    }
    ok_all(beside && left, "... also in turn with those of other classes");
}

static void check_choice(void)
{
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
        bool good = true;

        for (int i = 0; i < classes[c].calls; i++)
            good &= reduce(classes[c].count, i % 2);
        ok_all(good, "%d calls of %zu elements: right, the same on all ranks",
               classes[c].calls, classes[c].count);
    }
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    srand((unsigned)mpitap_rank() + 1);
    if (argc > 1 && strcmp(argv[1], "left") == 0)
        check_left();
    else
        check_choice();
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
