/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other collectives against references that are computed here from the
 * inputs of all ranks, bit for bit. Every way to reduce has its own step, which
 * an all-reduce begins.
 *
 *   other_collectives policy       prints the policy
 *   other_collectives              runs all calls under it
 *   other_collectives deferred     runs all calls in the nonblocking forms
 *   other_collectives log          under e4m3: the errors that the log has to
 *                                  show
 *   other_collectives nonblocking  under e8m23: with nonblocking calls between
 *                                  them
 */
#include "config.h"

#include <fenv.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "mpitap.h"
#include "other_collectives_calls.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* The all-reduce that begins a step: several chunks, the last one short. */
#define STEP_COUNT 150001

/* Elements of the largest call on one rank. */
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
    {.format = "e4m3",
     .scale = SCALE_APS,
     .accumulate = ACCUMULATE_FORMAT,
     .sums = "e5m10",
     .chunk = 2},
    {.format = "e3m0", .scale = SCALE_TIGHT},
    {.format = "e7m12", .scale = SCALE_APS},
    {.format = "e8m23", .scale = SCALE_APS, .accumulate = ACCUMULATE_KAHAN},
    {.format = "bfp7/576", .scale = SCALE_OWN},
    {.format = "mx-e4m3fn",
     .scale = SCALE_OWN,
     .accumulate = ACCUMULATE_FORMAT},
    {.format = "nvfp4", .scale = SCALE_OWN},
    {.format = "bfp15/1008",
     .scale = SCALE_OWN,
     .accumulate = ACCUMULATE_FORMAT},
};

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

/* --- lists of calls ------------------------------------------------------ */

enum shape { EVEN, ZEROS, ONE_LONG, ONE_ALONE, TINY, SHAPES };

/* Lays out shares of some unit, one after the other. */
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
    const bool first = number % 3 == 0; /* the first rank has the long shares */
    float *sum = malloc(STEP_COUNT * sizeof *sum);
    bool good = true;

    way_name(way, name, sizeof name);
    /* The all-reduce of the step, and with the same inputs a reduction to one rank. */
    others_fill(seed, STEP_COUNT);
    MPI_Allreduce(in[rank], sum, STEP_COUNT, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    good = others_reduce(way, seed, STEP_COUNT, (int)number % size, sum);
    ok_all(good, "%s: reduce has the bits of the all-reduce", name);
    free(sum);

    good = true;
    for (size_t i = 0; i < LENGTH(units); i++) {
        lay_out(EVEN, units[i], bounds);
        good &= others_scatter(way, ++seed, bounds, true);
        for (int shape = EVEN; shape < SHAPES; shape++) {
            lay_out((enum shape)shape,
                    shape == ONE_LONG && !first ? 50 : units[i], bounds);
            good &= others_scatter(way, ++seed, bounds, false);
        }
    }
    ok_all(good, "%s: reduce_scatter", name);

    good = true;
    for (size_t i = 0; i < LENGTH(units); i++)
        good &= others_gather(way, ++seed, units[i]);
    good &= others_gather(way, ++seed, 1);
    good &= others_gather(way, ++seed, first ? 70001 : 20001);
    ok_all(good, "%s: allgather", name);

    good = true;
    for (size_t i = 0; i < LENGTH(units); i++)
        for (int root = 0; root < size; root++, seed++)
            good &= others_reduce(way, seed + 1, units[i], root, NULL);
    good &= others_reduce(way, ++seed, 1, size - 1, NULL);
    ok_all(good, "%s: reduce", name);
}

/* Prints for the script the summary's expected numbers for every kind. */
static void expect_summary(void)
{
    static const char *const names[KINDS] = {[SCATTER] = "MPI_Reduce_scatter",
                                             [SCATTER_BLOCK] =
                                                 "MPI_Reduce_scatter_block",
                                             [GATHER] = "MPI_Allgather",
                                             [ROOTED] = "MPI_Reduce"};

    for (int kind = 0; kind < KINDS && rank == 0; kind++)
        printf("# summary: %lu eligible calls of %s, %lu rewritten\n",
               made[kind], names[kind], made[kind]);
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

/* Makes the three calls, n elements a rank; results to scattered[n],
 * reduced[size * n] at the root, gathered[size * n]. */
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

/* The program's rounding direction neither changes the results nor is changed. */
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

/* The results of all ranks are gathered on rank 0, which prints their errors;
 * the log must have each twice. */
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
        good &= others_check("all-reduce", (unsigned)turn, n,
                             sum + (size_t)rank * n, whole);
        if (rank == root)
            good &= others_check("reduce", (unsigned)turn, all, out, sum);
        for (int r = 0; r < size; r++)
            good &= others_check("allgather", (unsigned)turn, n,
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
    deferred = strcmp(mode, "deferred") == 0;
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
