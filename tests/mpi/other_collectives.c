/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other collectives against references that are computed here from the
 * inputs of all ranks, bit for bit. Every way to reduce has a step of its own:
 * the step of an all-reduce, which begins it.
 *
 *   other_collectives policy       prints the policy
 *   other_collectives              runs all calls under it
 *   other_collectives log          under e4m3: the errors that the log has to
 *                                  show
 *   other_collectives nonblocking  under e8m23: with nonblocking calls between
 *                                  them
 */
/*
 * The other collectives against references that are computed here
 * from the inputs of all ranks, bit for bit. Every way to reduce has a step of
 * its own: the step of an all-reduce, which begins it.
 *
XX policy     prints the policy
XX            runs all calls under it
XX log        under e4m3: the errors that the log has to show
XX nonblocking  under e8m23: with nonblocking calls between them
 */
#include "config.h"

#include <fenv.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "mpitap.h"
#include "rounding.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* The all-reduce that begins a step: several chunks, the last one short. */
#define STEP_COUNT 150001

/* Elements that any call takes or gives on one rank. */
#define ROOM (16 * 80000)

static const struct way ways[] = {
    {.format = "e4m3", .scale = SCALE_TIGHT},
    {.format = "e4m3", .scale = SCALE_APS, .accumulate = ACCUMULATE_FORMAT},
    {.format = "e8m23", .scale = SCALE_NONE},
    {.format = "e3m0", .scale = SCALE_APS, .accumulate = ACCUMULATE_KAHAN},
    {.format = "e5m2", .scale = SCALE_NONE},
    {.format = "e5m2",
     .scale = SCALE_FIXED,
     .fixed = 48,
     .accumulate = ACCUMULATE_FORMAT},
    {.format = "e3m0", .scale = SCALE_TIGHT},
    {.format = "e7m12", .scale = SCALE_APS},
    {.format = "e8m23", .scale = SCALE_APS, .accumulate = ACCUMULATE_KAHAN},
};

enum kind { SCATTER, GATHER, ROOTED, KINDS };

static int rank, size;
static unsigned long made[KINDS];
static float *in[RANKS_MAX]; /* rank 0 has everybody's */
static float *out, *expected, *before, *whole;

static void print_policy(void)
{
    printf("version: 1\nmin_count: 1\nsteps: {calls: 1}\nrules:\n");
    for (size_t i = 0; i < LENGTH(ways); i++) {
        way_print_rule(stdout, &ways[i], -1, -1);
        printf("    calls: [allreduce, reduce_scatter, allgather, reduce]\n"
               "    steps: %zu\n",
               i);
    }
}

/* --- references ---------------------------------------------------------- */

/* Elements of a message: `direct` has as many for every rank. */
static size_t part_length(const struct way *way)
{
    return way_chunk(way, size) / (size_t)size;
}

/* The shares of in[size][bounds[size]], each cut into parts that are blocks;
 * one after the other in sum[]. */
static void reference_scatter(const struct way *way, const size_t bounds[],
                              float *sum)
{
    const float *const *inputs = (const float *const *)in;
    const int exponent = stage_exponent(way, size, inputs, bounds[size]);
    const size_t most = part_length(way);

    for (int i = 0; i < size; i++) {
        size_t length;

        for (size_t at = bounds[i]; at < bounds[i + 1]; at += length) {
            const float *parts[RANKS_MAX];

            length = bounds[i + 1] - at < most ? bounds[i + 1] - at : most;
            for (int r = 0; r < size; r++)
                parts[r] = in[r] + at;
            sum_blocks(way, exponent, size, parts, length, sum + at);
        }
    }
}

/* in[size][n], each cut into blocks; for aps one exponent, of N = 1. */
static void reference_gather(const struct way *way, size_t n, float *gathered)
{
    const float *const all[] = {gathered};
    const size_t most = part_length(way);
    int exponent;

    for (int r = 0; r < size; r++)
        memcpy(gathered + (size_t)r * n, in[r], n * sizeof *gathered);
    exponent = stage_exponent(way, 1, all, (size_t)size * n);
    for (int r = 0; r < size; r++)
        for (size_t at = 0; at < n; at += most)
            send_block(way, exponent, n - at < most ? n - at : most, in[r] + at,
                       gathered + (size_t)r * n + at);
}

/* e8m23 without a scale has no roundings: say so without rounding.c. */
static bool sums_exactly(const struct way *way, size_t n, const float *sum)
{
    if (strcmp(way->format, "e8m23") != 0 || way->accumulate != ACCUMULATE_FP32)
        return true;
    for (size_t i = 0; i < n; i++) {
        float exact = in[0][i];

        for (int r = 1; r < size; r++)
            exact += in[r][i];
        if (!same_float(exact, sum[i]))
            return false;
    }
    return true;
}

/* --- inputs -------------------------------------------------------------- */

static void fill_rank(unsigned seed, int r, size_t n, float *x)
{
    const enum fill kind = (enum fill)(seed % FILLS);

    fill(kind, seed, r, n, x);
    /* A few that are not finite, on one rank each or on all. */
    if (seed % 3 == 1 && n > 40) {
        if (r == 0)
            x[3] = INFINITY;
        if (r == size - 1)
            x[n / 2] = -INFINITY;
        if (r == size / 2)
            x[n - 1] = NAN;
        x[7] = r % 2 ? INFINITY : -INFINITY;
    }
}

/* Our own, and on rank 0 those of all. */
static void fill_all(unsigned seed, size_t n)
{
    for (int r = 0; r < size; r++)
        if (r == rank || rank == 0)
            fill_rank(seed, r, n, in[r]);
    memcpy(before, in[rank], n * sizeof *before);
}

/* How a call is made, by turns. */
struct manner {
    bool in_place;
    bool large;
    MPI_Datatype type;
};

static struct manner manner_of(unsigned seed)
{
    struct manner manner = {
        .in_place = seed % 4 == 1 || (seed % 4 == 2 && rank % 2),
        .large = seed % 3 == 0,
        .type = MPI_FLOAT,
    };

    if (seed % 5 == 3 && MPI_REAL != MPI_DATATYPE_NULL)
        manner.type = MPI_REAL;
    if (seed % 5 == 4 && MPI_REAL4 != MPI_DATATYPE_NULL)
        manner.type = MPI_REAL4;
#ifndef HAVE_PMPI_REDUCE_C
    manner.large = false;
#endif
    return manner;
}

/* Bits of out[n] on this rank; `expected` only there. */
static bool check(const char *what, unsigned seed, size_t n, const float *got,
                  const float *wanted)
{
    const size_t i = first_difference(n, wanted, got);

    if (i < n)
        diag("rank %d: %s %u: element %zu of %zu is %a, expected %a", rank,
             what, seed, i, n, got[i], wanted[i]);
    return i == n;
}

/* --- calls --------------------------------------------------------------- */

/* MPI_Reduce_scatter, or MPI_Reduce_scatter_block. */
static int make_scatter(const struct manner *manner, const size_t bounds[],
                        bool block, const float *x)
{
    const void *send = manner->in_place ? MPI_IN_PLACE : (const void *)x;
    MPI_Comm comm = MPI_COMM_WORLD;
    int counts[RANKS_MAX];

    for (int i = 0; i < size; i++)
        counts[i] = (int)(bounds[i + 1] - bounds[i]);
#ifdef HAVE_PMPI_REDUCE_C
    if (manner->large) {
        MPI_Count large[RANKS_MAX];

        for (int i = 0; i < size; i++)
            large[i] = counts[i];
        return block ? MPI_Reduce_scatter_block_c(send, out, large[0],
                                                  manner->type, MPI_SUM, comm)
                     : MPI_Reduce_scatter_c(send, out, large, manner->type,
                                            MPI_SUM, comm);
    }
#endif
    return block ? MPI_Reduce_scatter_block(send, out, counts[0], manner->type,
                                            MPI_SUM, comm)
                 : MPI_Reduce_scatter(send, out, counts, manner->type, MPI_SUM,
                                      comm);
}

/* Everybody gets its part of rank 0's result. */
static void hand_out(const size_t bounds[], const float *all, float *own)
{
    int counts[RANKS_MAX], places[RANKS_MAX];

    for (int i = 0; i < size; i++) {
        counts[i] = (int)(bounds[i + 1] - bounds[i]);
        places[i] = (int)bounds[i];
    }
    meet(); /* asleep, while rank 0 computes */
    PMPI_Scatterv(all, counts, places, MPI_FLOAT, own, counts[rank], MPI_FLOAT,
                  0, MPI_COMM_WORLD);
}

static bool scatter(const struct way *way, unsigned seed, const size_t bounds[],
                    bool block)
{
    const struct manner manner = manner_of(seed);
    const size_t n = bounds[size], own = bounds[rank + 1] - bounds[rank];
    bool good = true;

    fill_all(seed, n);
    memset(out, 0x5a, (n + 1) * sizeof *out);
    memcpy(whole, out, (n + 1) * sizeof *whole);
    if (manner.in_place)
        memcpy(out, in[rank], n * sizeof *out);
    good = make_scatter(&manner, bounds, block, in[rank]) == MPI_SUCCESS;
    made[SCATTER]++;
    if (memcmp(before, in[rank], n * sizeof *before) != 0 ||
        (!manner.in_place &&
         memcmp(whole, out + own, (n + 1 - own) * sizeof *out) != 0)) {
        diag("rank %d: reduce_scatter %u wrote elsewhere", rank, seed);
        good = false;
    }
    if (rank == 0) {
        reference_scatter(way, bounds, whole);
        good &= sums_exactly(way, n, whole);
    }
    hand_out(bounds, whole, expected);
    return check("reduce_scatter", seed, own, out, expected) && good;
}

static bool gather(const struct way *way, unsigned seed, size_t n)
{
    const struct manner manner = manner_of(seed);
    const size_t all = (size_t)size * n;
    float *place = out + (size_t)rank * n;
    const void *send = in[rank];
    bool good;
    int rc;

    fill_all(seed, n);
    memset(out, 0x5a, (all + 1) * sizeof *out);
    if (manner.in_place) {
        memcpy(place, in[rank], n * sizeof *out);
        send = MPI_IN_PLACE;
    }
#ifdef HAVE_PMPI_REDUCE_C
    if (manner.large)
        rc = MPI_Allgather_c(send, (MPI_Count)n, manner.type, out, (MPI_Count)n,
                             manner.type, MPI_COMM_WORLD);
    else
#endif
        rc = MPI_Allgather(send, (int)n, manner.type, out, (int)n, manner.type,
                           MPI_COMM_WORLD);
    made[GATHER]++;
    good =
        rc == MPI_SUCCESS && memcmp(before, in[rank], n * sizeof *before) == 0;
    if (!same_on_all(out, all * sizeof *out)) {
        diag("rank %d: allgather %u: results differ between ranks", rank, seed);
        good = false;
    }
    if (rank != 0)
        return good;
    reference_gather(way, n, expected);
    return check("allgather", seed, all, out, expected) && good;
}

static int make_rooted(const struct manner *manner, const void *send,
                       void *receive, size_t n, int root)
{
#ifdef HAVE_PMPI_REDUCE_C
    if (manner->large)
        return MPI_Reduce_c(send, receive, (MPI_Count)n, manner->type, MPI_SUM,
                            root, MPI_COMM_WORLD);
#endif
    return MPI_Reduce(send, receive, (int)n, manner->type, MPI_SUM, root,
                      MPI_COMM_WORLD);
}

/* As the all-reduce `direct`; `sum`, unless NULL, is the one of the library. */
static bool rooted(const struct way *way, unsigned seed, size_t n, int root,
                   const float *sum)
{
    const struct manner manner = manner_of(seed);
    const bool ours = rank == root;
    /* Elsewhere the buffer means nothing, and stays what it is. */
    void *receive = ours || seed % 2 ? out : NULL;
    size_t all[RANKS_MAX + 1];
    bool good;

    fill_all(seed, n);
    memset(out, 0x5a, (n + 1) * sizeof *out);
    memcpy(whole, out, (n + 1) * sizeof *whole);
    if (ours && manner.in_place)
        memcpy(out, in[rank], n * sizeof *out);
    good =
        make_rooted(&manner, ours && manner.in_place ? MPI_IN_PLACE : in[rank],
                    receive, n, root) == MPI_SUCCESS;
    made[ROOTED]++;
    if (memcmp(before, in[rank], n * sizeof *before) != 0 ||
        (!ours && memcmp(whole, out, n * sizeof *out) != 0)) {
        diag("rank %d: reduce %u wrote elsewhere", rank, seed);
        good = false;
    }
    if (sum)
        return (!ours || check("reduce, all-reduce", seed, n, out, sum)) &&
               good;
    if (rank == 0) {
        reference_reduce(way, size, n, in, whole);
        good &=
            strcmp(way->format, "e8m23") != 0 || sums_exactly(way, n, whole);
    }
    for (int i = 0; i <= size; i++)
        all[i] = i > root ? n : 0;
    hand_out(all, whole, expected);
    return (!ours || check("reduce", seed, n, out, expected)) && good;
}

/* --- lists of calls ------------------------------------------------------ */

enum shape { EVEN, ZEROS, ONE_LONG, ONE_ALONE, TINY, SHAPES };

/* Shares of some unit, laid out one after the other. */
static void lay_out(enum shape shape, size_t unit, size_t bounds[])
{
    bounds[0] = 0;
    for (int i = 0; i < size; i++) {
        size_t share = unit;

        switch (shape) {
        case ZEROS:
            share = i % 2 ? unit + (size_t)i : 0;
            break;
        case ONE_LONG:
            share = i == 1 ? 70 * unit : (size_t)(i + 1) * 3;
            break;
        case ONE_ALONE:
            share = i == size - 1 ? unit : 0;
            break;
        case TINY:
            share = 1;
            break;
        default:
            break;
        }
        bounds[i + 1] = bounds[i] + share;
    }
}

static void run_way(const struct way *way, unsigned number)
{
    static const size_t units[] = {1000, 64, 777, 4097};
    size_t bounds[RANKS_MAX + 1];
    char name[128];
    unsigned seed = 100 * number;
    const bool first = number % 3 == 0; /* has the long ones */
    float *sum = malloc(STEP_COUNT * sizeof *sum);
    bool good = true;

    way_name(way, name, sizeof name);
    /* The step, and with the same inputs a reduction to one rank. */
    fill_all(seed, STEP_COUNT);
    MPI_Allreduce(in[rank], sum, STEP_COUNT, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    good = rooted(way, seed, STEP_COUNT, (int)number % size, sum);
    ok_all(good, "%s: reduce has the bits of the all-reduce", name);
    free(sum);

    good = true;
    for (size_t i = 0; i < LENGTH(units); i++) {
        lay_out(EVEN, units[i], bounds);
        good &= scatter(way, ++seed, bounds, true);
        for (int shape = EVEN; shape < SHAPES; shape++) {
            lay_out((enum shape)shape,
                    shape == ONE_LONG && !first ? 50 : units[i], bounds);
            good &= scatter(way, ++seed, bounds, false);
        }
    }
    ok_all(good, "%s: reduce_scatter", name);

    good = true;
    for (size_t i = 0; i < LENGTH(units); i++)
        good &= gather(way, ++seed, units[i]);
    good &= gather(way, ++seed, 1);
    good &= gather(way, ++seed, first ? 70001 : 20001);
    ok_all(good, "%s: allgather", name);

    good = true;
    for (size_t i = 0; i < LENGTH(units); i++)
        for (int root = 0; root < size; root++, seed++)
            good &= rooted(way, seed + 1, units[i], root, NULL);
    good &= rooted(way, ++seed, 1, size - 1, NULL);
    ok_all(good, "%s: reduce", name);
}

/* For the script: what the summary has to say of every kind. */
static void expect_summary(void)
{
    static const char *const names[KINDS] = {"MPI_Reduce_scatter",
                                             "MPI_Allgather", "MPI_Reduce"};

    for (int kind = 0; kind < KINDS && rank == 0; kind++)
        printf("# summary: %lu calls of %s, %lu rewritten\n", made[kind],
               names[kind], made[kind]);
}

/* --- the log ------------------------------------------------------------- */

/* Mean of |exact - got| / |exact|, where exact is the FP64 sum. */
static double mean_error(size_t n, int terms, const float *got)
{
    double sum = 0;
    size_t compared = 0;

    for (size_t i = 0; i < n; i++) {
        double total = 0;
        float exact;

        for (int r = 0; r < terms; r++)
            total += in[r][i];
        exact = (float)total;
        if (exact == 0)
            continue;
        sum += fabs((double)exact - (double)got[i]) / fabs((double)exact);
        compared++;
    }
    return compared > 0 ? sum / (double)compared : 0;
}

/* The three calls, n elements a rank; results to scattered[n], reduced[size *
 * n] at the root, gathered[size * n]. */
static void make_three(size_t n, int root, float *scattered, float *reduced,
                       float *gathered)
{
    const int all = size * (int)n;
    int counts[RANKS_MAX];

    for (int i = 0; i < size; i++)
        counts[i] = (int)n;
    MPI_Reduce_scatter(in[rank], scattered, counts, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD);
    MPI_Reduce(in[rank], reduced, all, MPI_FLOAT, MPI_SUM, root,
               MPI_COMM_WORLD);
    memcpy(gathered + (size_t)rank * n, in[rank], n * sizeof *gathered);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gathered, (int)n,
                  MPI_FLOAT, MPI_COMM_WORLD);
}

/* The program's arithmetic neither matters nor changes. */
static bool make_three_upward(size_t n, int root, float *scattered,
                              float *reduced, float *gathered)
{
    const int traps = FE_INEXACT | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW;
    bool kept;

    fesetround(FE_UPWARD);
    feenableexcept(traps);
    make_three(n, root, scattered, reduced, gathered);
    kept = fegetround() == FE_UPWARD && fegetexcept() == traps;
    fedisableexcept(traps);
    fesetround(FE_TONEAREST);
    return kept;
}

/* The results of all ranks come together on rank 0, which prints their errors;
 * the log has to have each twice. */
static void run_log(void)
{
    const size_t n = 1500, all = (size_t)size * n;
    const int root = size - 1;
    float *const reduced = out, *const gathered = out + all;
    float *const scattered = out + 2 * all;
    bool good;

    for (int r = 0; r < size; r++)
        fill(FILL_GRADIENTS, 5, r, all, in[r]);
    memset(out, 0, 3 * all * sizeof *out);
    make_three(n, root, scattered, reduced, gathered);
    memset(whole, 0, 3 * all * sizeof *whole);
    good = make_three_upward(n, root, whole + 2 * all, whole, whole + all);
    ok_all(good, "the program's arithmetic is left as it was");
    ok_all(memcmp(out, whole, 3 * all * sizeof *out) == 0,
           "and changes nothing in the results");

    PMPI_Gather(scattered, (int)n, MPI_FLOAT, whole, (int)n, MPI_FLOAT, 0,
                MPI_COMM_WORLD);
    if (rank == 0)
        printf("# error reduce_scatter %zu %.9g\n", all,
               mean_error(all, size, whole));
    if (rank == root)
        PMPI_Send(reduced, (int)all, MPI_FLOAT, 0, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    PMPI_Recv(whole, (int)all, MPI_FLOAT, root, 0, MPI_COMM_WORLD,
              MPI_STATUS_IGNORE);
    printf("# error reduce %zu %.9g\n", all, mean_error(all, size, whole));
    for (int r = 1; r < size; r++)
        memcpy(in[0] + (size_t)r * n, in[r], n * sizeof *out);
    printf("# error allgather %zu %.9g\n", all, mean_error(all, 1, gathered));
}

/* --- between nonblocking calls ------------------------------------------- */

/* Blocking calls while an all-reduce of the same communicator is under way. */
static void run_nonblocking(void)
{
    const size_t n = 3000, all = (size_t)size * n;
    float *sum = malloc(all * sizeof *sum);
    bool good = true;

    for (int turn = 0; turn < 4; turn++) {
        const int root = turn % size;
        MPI_Request request;

        for (int r = 0; r < size; r++)
            fill(FILL_GRADIENTS, (uint64_t)turn, r, all, in[r]);
        MPI_Iallreduce(in[rank], sum, (int)all, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD, &request);
        make_three(n, root, whole, out, expected);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        good &= check("all-reduce", (unsigned)turn, n, sum + (size_t)rank * n,
                      whole);
        if (rank == root)
            good &= check("reduce", (unsigned)turn, all, out, sum);
        for (int r = 0; r < size; r++)
            good &= check("allgather", (unsigned)turn, n,
                          expected + (size_t)r * n, in[r]);
        for (size_t i = 0; i < all; i++) {
            float exact = in[0][i];

            for (int r = 1; r < size; r++)
                exact += in[r][i];
            good &= exact == sum[i];
        }
    }
    free(sum);
    ok_all(good, "blocking calls while an all-reduce is under way");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int status;

    if (strcmp(mode, "policy") == 0) {
        print_policy();
        return 0;
    }
    MPI_Init(&argc, &argv);
    mpitap_begin();
    rank = mpitap_rank();
    size = mpitap_size();
    for (int r = 0; r < size; r++)
        in[r] = malloc((ROOM + 1) * sizeof(float));
    out = malloc((ROOM + 1) * sizeof *out);
    expected = malloc((ROOM + 1) * sizeof *expected);
    before = malloc((ROOM + 1) * sizeof *before);
    whole = malloc((ROOM + 1) * sizeof *whole);
    if (strcmp(mode, "log") == 0) {
        run_log();
    } else if (strcmp(mode, "nonblocking") == 0) {
        run_nonblocking();
    } else {
        for (size_t i = 0; i < LENGTH(ways); i++)
            run_way(&ways[i], (unsigned)i);
        expect_summary();
    }
    for (int r = 0; r < size; r++)
        free(in[r]);
    free(out);
    free(expected);
    free(before);
    free(whole);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
