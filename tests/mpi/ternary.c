/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TernGrad: values that digits represent exactly arrive exactly, in place and
 * not in place; others have the same bits on all ranks, and are right on
 * average. Layers with INF or NaN, or that would overflow, are reduced in FP32;
 * later steps send what feedback kept.
 *
 *     ternary all off|on    the policy's `feedback`
 *     ternary bytes COUNT   one call of COUNT elements
 *
 * The program prints a hash of results that depend on random bits, so that the
 * script can compare runs.
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define LONGEST 16384
#define SUMMED 1000 /* elements of a layer that is reduced many times */
#define CALLS 100

static int ranks, rank;
static float in[LONGEST], out[LONGEST], other[LONGEST];
static double wide[LONGEST], total[LONGEST];

/* In -1 ... 1. */
static float draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int)(*seed >> 8) / 8388608.0f - 1;
}

static void reduce(int n)
{
    MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce_in_place(int n)
{
    memcpy(other, in, (size_t)n * sizeof *in);
    MPI_Allreduce(MPI_IN_PLACE, other, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/* Computes the sums of `in`, in double. MPI's own waits would take the cores of
 * ranks that have not come yet, so the ranks first meet asleep. */
static void sum(int n)
{
    meet();
    for (int i = 0; i < n; i++)
        wide[i] = (double)in[i];
    MPI_Allreduce(wide, total, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void test_exact(void)
{
    static const int counts[] = {1,   4,   5,   319,  320,  321,
                                 640, 999, 961, 5000, 9601, LONGEST};
    static const float scalers[] = {1, 0x1.8p-130f, 0x1.23456p-20f, 0x1.fp120f,
                                    0};
    bool exact = true, placed = true;

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t s = 0; s < sizeof scalers / sizeof *scalers; s++) {
            unsigned seed = (unsigned)(rank + 1);

            for (int i = 0; i < counts[c]; i++)
                in[i] = scalers[s] * rintf(1.5f * draw(&seed));
            /* Some rank has a value. */
            if (rank == 0)
                in[0] = -scalers[s];
            sum(counts[c]);
            reduce(counts[c]);
            reduce_in_place(counts[c]);
            for (int i = 0; i < counts[c]; i++) {
                exact &= out[i] == (float)total[i];
                placed &= other[i] == (float)total[i];
            }
        }
    ok_all(exact, "digits that say all give exact sums");
    ok_all(placed, "... in place as well");
}

static void test_bits(void)
{
    uint64_t number = 0;
    bool alike = true, sent = false;

    for (int n = 1; n <= LONGEST; n = 3 * n + 1) {
        unsigned seed = (unsigned)(n + 7919 * rank);

        for (int i = 0; i < n; i++) {
            in[i] = draw(&seed);
            in[i] *= in[i] * in[i];
        }
        reduce(n);
        alike &= same_on_all(out, (size_t)n * sizeof *out);
        for (int i = 0; i < n; i++) {
            uint32_t bits;

            memcpy(&bits, &out[i], sizeof bits);
            number = (number ^ bits) * UINT64_C(0x100000001b3);
            sent |= bits != 0;
        }
    }
    ok_all(alike && sent, "all ranks have the same bits");
    if (rank == 0)
        diag("results %016llx", (unsigned long long)number);
}

/*
 * The mean of many calls is the sum, within the variance of digits that are
 * drawn independently: |x| (s - |x|) each, with s the greatest magnitude of all
 * ranks, because nothing is clipped. All ranks have the same values: equal
 * digits on all ranks would vary more.
 */
static void test_mean(void)
{
    static double mean[SUMMED];
    double all = 0, squares = 0, worst = 0;
    float greatest = 0;
    unsigned seed = 1;

    memset(mean, 0, sizeof mean);
    for (int i = 0; i < SUMMED; i++) {
        in[i] = draw(&seed);
        greatest = fmaxf(greatest, fabsf(in[i]));
    }
    for (int call = 0; call < CALLS; call++) {
        reduce(SUMMED);
        for (int i = 0; i < SUMMED; i++)
            mean[i] += (double)out[i] / CALLS;
    }
    for (int i = 0; i < SUMMED; i++) {
        const double x = fabs((double)in[i]);
        const double variance = ranks * x * ((double)greatest - x) / CALLS;
        const double off = mean[i] - ranks * (double)in[i];

        /* The greatest value is never random. */
        if (x == (double)greatest) {
            worst = fmax(worst, fabs(off) > 1e-5 ? INFINITY : 0);
            continue;
        }
        worst = fmax(worst, fabs(off) / sqrt(variance));
        squares += off * off / variance / SUMMED;
        all += copysign(1, (double)in[i]) * off / sqrt(variance);
    }
    all = fabs(all) / sqrt(SUMMED);
    ok_all(all < 4 && worst < 5,
           "right on average: off by %.2f sigma, an element by %.2f", all,
           worst);
    ok_all(squares > 0.8 && squares < 1.2,
           "ranks and calls draw independently: variance %.3f of what is due",
           squares);
}

static bool near(int n, int but)
{
    bool all = true;

    for (int i = 0; i < n; i++)
        all &= i == but || fabs((double)out[i] - total[i]) <= 1e-6;
    return all;
}

static void test_not_finite(float bad, const char *name)
{
    unsigned seed = (unsigned)(rank + 1);
    bool arrives;

    for (int i = 0; i < SUMMED; i++)
        in[i] = draw(&seed);
    sum(SUMMED);
    if (rank == ranks - 1)
        in[77] = bad;
    reduce(SUMMED);
    arrives = isnan(bad) ? isnan(out[77]) : out[77] == bad;
    ok_all(arrives && near(SUMMED, 77),
           "%s arrives in its place, and what is beside it in full floats",
           name);
}

/* Sums that are finite, of values whose digits are not. */
static void test_great(void)
{
    unsigned seed = 5;

    for (int i = 0; i < SUMMED; i++)
        in[i] = FLT_MAX * (rank == 0 ? 1.0f : -1.0f / (float)(ranks - 1)) *
                (ranks == 2 || rank == 0 ? 0.75f : 0.5f) *
                (draw(&seed) > 0 ? 1.0f : -1.0f);
    reduce(SUMMED);
    sum(SUMMED);
    for (int i = 0; i < SUMMED; i++)
        out[i] = (float)((double)out[i] - total[i]) / FLT_MAX;
    memset(total, 0, sizeof total);
    ok_all(near(SUMMED, -1), "values whose digits' sums overflow do not");
}

/* The results of calls minus the gradients: the difference stays constant with
 * feedback, and grows like a random walk without. One call has a NaN, and does
 * not count. */
static void test_feedback(bool feedback)
{
    static double left[SUMMED];
    double early = 0, late = 0;

    memset(left, 0, sizeof left);
    for (int step = 0; step < CALLS; step++) {
        /* Random numbers of near seeds are near each other. */
        unsigned seed = (unsigned)step * 2654435761u + (unsigned)rank * 7919u;
        double square = 0;

        for (int i = 0; i < SUMMED; i++)
            in[i] = draw(&seed);
        if (step == CALLS / 8) {
            in[step] = rank == 0 ? NAN : 0;
            reduce(SUMMED);
            continue;
        }
        sum(SUMMED);
        reduce(SUMMED);
        for (int i = 0; i < SUMMED; i++) {
            left[i] += (double)out[i] - total[i];
            square += left[i] * left[i] / SUMMED;
        }
        if (step >= CALLS / 10 && step < CALLS / 5)
            early += sqrt(square) / (CALLS / 10);
        if (step >= CALLS - CALLS / 10)
            late += sqrt(square) / (CALLS / 10);
    }
    if (feedback)
        ok_all(late < 1.2 * early,
               "what is left out comes later: %.2f of 60 calls, %.2f of 400",
               early, late);
    else
        ok_all(late > 1.8 * early && late < 3.5 * early,
               "nothing is remembered: %.2f of 60 calls, %.2f of 400", early,
               late);
}

int main(int argc, char **argv)
{
    const bool feedback = argc > 2 && strcmp(argv[2], "on") == 0;
    const int count = argc > 2 ? atoi(argv[2]) : 0;
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    rank = mpitap_rank();
    ranks = mpitap_size();
    if (count > 0) {
        for (int i = 0; i < count; i++)
            in[i] = (float)(i % 7) - 3;
        reduce(count);
        ok_all(same_on_all(out, (size_t)count * sizeof *out), "one call");
    } else {
        if (!feedback) {
            test_exact();
            test_bits();
            test_mean();
        }
        test_feedback(feedback);
        test_not_finite(NAN, "NaN");
        test_not_finite(-INFINITY, "-INF");
        test_great();
    }
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
