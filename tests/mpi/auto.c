/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `reduce: auto` on ranks that arrive at different times, and so measure different
 * times. All ranks must try and choose the same reductions, and the sum is right. The
 * counts lie in three classes of sizes, one of them below min_count.
 *
 *     auto         the test that the first sentences describe
 *     auto calls   the other collectives, blocking and nonblocking; some broadcasts
 *                  have a type that the library refuses, and one rank forgets
 *                  which calls pass like earlier ones
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
} classes[] = {{100, 3}, {1500, 80}, {2000, 5}, {COUNT_MAX, 40}};

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
        beside &= reduce((size_t)(FIRST + i % 4), i % 2);
        left &= is_left(last, i % 3 == 0);
    }
    ok_all(beside && left, "... also in turn with those of other classes");
}

/* --- other collectives --------------------------------------------------- */

/* Elements of a rank; some have one more in MPI_Reduce_scatter. */
#define BLOCK 700
#define RANKS_MAX 4
#define TOTAL ((BLOCK + 1) * RANKS_MAX)

static float value(int rank, int i)
{
    return (float)(rank + 1) * (float)(i % 97 + 1);
}

/* The sum of a value over all ranks. */
static float sum_of(int i)
{
    return value(0, i) * (float)(mpitap_size() * (mpitap_size() + 1) / 2);
}

static bool near(float x, float exact)
{
    return fabs((double)x - (double)exact) <= (double)exact * 4 / 256;
}

static bool are_sums(const float *sums, int begin, int end)
{
    bool good = true;

    for (int i = begin; i < end; i++)
        good &= near(sums[i - begin], sum_of(i));
    return good;
}

static void finish(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static bool try_reduce(bool nonblocking)
{
    const int n = BLOCK * mpitap_size();
    MPI_Request request = MPI_REQUEST_NULL;

    if (nonblocking)
        MPI_Ireduce(in, out, n, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD,
                    &request);
    else
        MPI_Reduce(in, out, n, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    finish(&request);
    return mpitap_rank() != 0 || are_sums(out, 0, n);
}

static bool try_reduce_scatter(bool nonblocking)
{
    const int rank = mpitap_rank();
    int counts[RANKS_MAX], begin = 0;
    MPI_Request request = MPI_REQUEST_NULL;

    for (int r = 0; r < mpitap_size(); r++) {
        counts[r] = BLOCK + r % 2;
        begin += r < rank ? counts[r] : 0;
    }
    if (nonblocking)
        MPI_Ireduce_scatter(in, out, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                            &request);
    else
        MPI_Reduce_scatter(in, out, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    finish(&request);
    return are_sums(out, begin, begin + counts[rank]);
}

static bool try_reduce_scatter_block(bool nonblocking)
{
    const int begin = BLOCK * mpitap_rank();
    MPI_Request request = MPI_REQUEST_NULL;

    if (nonblocking)
        MPI_Ireduce_scatter_block(in, out, BLOCK, MPI_FLOAT, MPI_SUM,
                                  MPI_COMM_WORLD, &request);
    else
        MPI_Reduce_scatter_block(in, out, BLOCK, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_WORLD);
    finish(&request);
    return are_sums(out, begin, begin + BLOCK);
}

static bool try_allgather(bool nonblocking)
{
    const int n = BLOCK * mpitap_size();
    MPI_Request request = MPI_REQUEST_NULL;
    bool good = true;

    if (nonblocking)
        MPI_Iallgather(in, BLOCK, MPI_FLOAT, out, BLOCK, MPI_FLOAT,
                       MPI_COMM_WORLD, &request);
    else
        MPI_Allgather(in, BLOCK, MPI_FLOAT, out, BLOCK, MPI_FLOAT,
                      MPI_COMM_WORLD);
    finish(&request);
    for (int i = 0; i < n; i++)
        good &= near(out[i], value(i / BLOCK, i % BLOCK));
    return same_on_all(out, (size_t)n * sizeof *out) && good;
}

/* Broadcasts n elements. If `derived`, the last rank describes them by a vector, which
 * the ranks find out when they agree on the call: element 2 i of its buffer for each
 * i < n / 2, and then the same after its extent. */
static bool broadcast(int n, bool derived, bool nonblocking)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype vector = MPI_FLOAT;
    bool good = true;

    derived &= mpitap_rank() == mpitap_size() - 1;
    if (derived) {
        MPI_Type_vector(n / 2, 1, 2, MPI_FLOAT, &vector);
        MPI_Type_commit(&vector);
    }
    for (int i = 0; i < 2 * n; i++)
        out[i] = mpitap_rank() == 0 ? in[i] : 0;
    if (nonblocking)
        MPI_Ibcast(out, derived ? 2 : n, vector, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Bcast(out, derived ? 2 : n, vector, 0, MPI_COMM_WORLD);
    finish(&request);
    if (derived)
        MPI_Type_free(&vector);
    for (int i = 0; i < n; i++) {
        const int second = n - 1 + 2 * (i - n / 2);
        const int at = !derived ? i : i < n / 2 ? 2 * i : second;

        good &= near(out[at], value(0, i));
    }
    return good;
}

static bool try_bcast(bool nonblocking)
{
    static int calls;

    return broadcast(BLOCK * mpitap_size(), ++calls % 3 == 0, nonblocking);
}

static bool try_refused_bcast(bool nonblocking)
{
    return broadcast(2 * BLOCK * mpitap_size(), true, nonblocking);
}

/* Makes one rank forget which calls pass like earlier ones. */
static void forget(void)
{
    if (mpitap_rank() != 0)
        return;
    for (int n = 1; n < 200; n++)
        MPI_Bcast(out, n, MPI_INT, 0, MPI_COMM_SELF);
}

static void check_calls(void)
{
    static const struct {
        const char *name;
        bool (*try)(bool nonblocking);
    } tests[] = {
        {"reduce", try_reduce},
        {"reduce-scatter", try_reduce_scatter},
        {"reduce-scatter of equal blocks", try_reduce_scatter_block},
        {"all-gather", try_allgather},
        {"broadcast", try_bcast},
        {"broadcast that the ranks refuse", try_refused_bcast},
    };

    for (int i = 0; i < COUNT_MAX; i++)
        in[i] = value(mpitap_rank(), i);
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
        bool good = true;

        for (int i = 0; i < 60; i++) {
            dawdle();
            if (i % 5 == 0)
                forget();
            good &= tests[t].try(i % 7 == 6);
        }
        ok_all(good, "60 calls of %s", tests[t].name);
    }
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
    else if (argc > 1 && strcmp(argv[1], "calls") == 0)
        check_calls();
    else
        check_choice();
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
