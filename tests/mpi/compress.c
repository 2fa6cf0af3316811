/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layers that a compressor takes: the same bits on all ranks, in place and not in
 * place; later steps send what feedback kept; matrices of low rank arrive exactly; an
 * INF and a NaN arrive at their elements, and change nothing for later steps.
 *
 *     compress RANK on|off  the policy's `feedback`, and the rank of the matrices that
 *                           the policy does not lose; 5: loses nothing
 *     compress counts       counts that vary without end, without a table
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define LAYERS 4
#define LONGEST 16384
#define EXACT 5

/* As in the table of t-compress.sh; the third is a vector. */
static const struct {
    int rows, columns;
} shapes[LAYERS] = {{64, 48}, {33, 70}, {1, 500}, {128, 128}};

typedef float values[LAYERS][LONGEST];

static int ranks, rank;
static values in, out, other, sums, gradients;

static int count_of(int i)
{
    return shapes[i].rows * shapes[i].columns;
}

static float draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int)(*seed >> 8) / 8388608.0f - 1;
}

/* Fills a step's gradients on this rank: a part that all steps share, so that
 * the sum of steps grows, and noise. */
static void fill(int step)
{
    for (int i = 0; i < LAYERS; i++) {
        unsigned shared = (unsigned)i, own = (unsigned)(i + 31 * step);

        own = own * 7919u + 104729u * (unsigned)rank;
        for (int k = 0; k < count_of(i); k++)
            in[i][k] = draw(&shared) + 0.5f * draw(&own);
    }
}

/* Fills matrices of rank `of` on every rank. */
static void fill_low_rank(int of)
{
    for (int i = 0; i < LAYERS; i++) {
        memset(in[i], 0, sizeof in[i]);
        for (int r = 0; r < of; r++) {
            float left[128], right[500];
            unsigned seed = (unsigned)(100 * i + r);

            /* All ranks use the same columns, so the sum has that rank, too. */
            for (int k = 0; k < shapes[i].rows; k++)
                left[k] = draw(&seed);
            seed += 7919u * (unsigned)rank;
            for (int k = 0; k < shapes[i].columns; k++)
                right[k] = draw(&seed);
            for (int k = 0; k < count_of(i); k++)
                in[i][k] +=
                    left[k / shapes[i].columns] * right[k % shapes[i].columns];
        }
    }
}

static void step_apart(MPI_Comm comm, values to)
{
    for (int i = 0; i < LAYERS; i++)
        MPI_Allreduce(in[i], to[i], count_of(i), MPI_FLOAT, MPI_SUM, comm);
}

static void step_in_place(MPI_Comm comm, values to)
{
    memcpy(to, in, sizeof in);
    for (int i = 0; i < LAYERS; i++)
        MPI_Allreduce(MPI_IN_PLACE, to[i], count_of(i), MPI_FLOAT, MPI_SUM,
                      comm);
}

static bool same(const float *a, const float *b, int n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static bool same_layers(values a, values b)
{
    bool all = true;

    for (int i = 0; i < LAYERS; i++)
        all &= same(a[i], b[i], count_of(i));
    return all;
}

static bool have_same_bits(values x)
{
    bool all = true;

    for (int i = 0; i < LAYERS; i++)
        all &= same_on_all(x[i], (size_t)count_of(i) * sizeof(float));
    return all;
}

/* Computes the exact sums over ranks, in double. */
static void exact_sums(values to)
{
    static double wide[LONGEST], total[LONGEST];

    for (int i = 0; i < LAYERS; i++) {
        for (int k = 0; k < count_of(i); k++)
            wide[k] = in[i][k];
        MPI_Allreduce(wide, total, count_of(i), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        for (int k = 0; k < count_of(i); k++)
            to[i][k] = (float)total[k];
    }
}

/* ||a - b|| / ||b|| of layer i. */
static double distance(const float *a, const float *b, int n)
{
    double error = 0, norm = 0;

    for (int k = 0; k < n; k++) {
        error += ((double)a[k] - b[k]) * ((double)a[k] - b[k]);
        norm += (double)b[k] * b[k];
    }
    return sqrt(error / norm);
}

static MPI_Comm communicator(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

static void test_bits(void)
{
    MPI_Comm apart = communicator(), placed = communicator();
    bool alike = true, same_in_place = true;

    for (int step = 0; step < 6; step++) {
        fill(step);
        step_apart(apart, out);
        alike &= have_same_bits(out);
        step_in_place(placed, gradients);
        same_in_place &= same_layers(out, gradients);
    }
    ok_all(alike, "all ranks have the same bits");
    ok_all(same_in_place, "in place as apart");
    MPI_Comm_free(&apart);
    MPI_Comm_free(&placed);
}

static void test_low_rank(int of)
{
    MPI_Comm comm = communicator();
    bool near = true;

    fill_low_rank(of);
    exact_sums(sums);
    /* The first Q is random: one step of the power iteration suffices. */
    step_apart(comm, out);
    for (int i = 0; i < LAYERS; i++)
        near &= distance(out[i], sums[i], count_of(i)) < 1e-5;
    ok_all(near, "sums of rank %d arrive whole", of);
    MPI_Comm_free(&comm);
}

/* Nothing is left out: the results are the FP32 sums in rank order, first over
 * the ranks of a group. */
static void test_exact(int group)
{
    static float theirs[LONGEST], part[LONGEST];
    MPI_Comm comm = communicator();
    bool exact = true;

    for (int step = 0; step < 3; step++) {
        fill(step);
        step_apart(comm, out);
        for (int i = 0; i < LAYERS; i++) {
            memset(sums[i], 0, sizeof sums[i]);
            for (int r = 0; r < ranks; r++) {
                memcpy(theirs, in[i], sizeof theirs);
                PMPI_Bcast(theirs, count_of(i), MPI_FLOAT, r, MPI_COMM_WORLD);
                for (int k = 0; k < count_of(i); k++)
                    part[k] = r % group == 0 ? theirs[k] : part[k] + theirs[k];
                for (int k = 0; k < count_of(i) && r % group == group - 1; k++)
                    sums[i][k] += part[k];
            }
        }
        exact &= same_layers(out, sums);
    }
    ok_all(exact, "the exact sums of floats in the order of the ranks");
    MPI_Comm_free(&comm);
}

/* Returns the largest distance of a layer's sums from the sums of the ranks' values. */
static double worst_distance(double given[LAYERS][LONGEST])
{
    static double total[LONGEST];
    static float exact[LONGEST];
    double worst = 0;

    for (int i = 0; i < LAYERS; i++) {
        MPI_Allreduce(given[i], total, count_of(i), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        for (int k = 0; k < count_of(i); k++)
            exact[k] = (float)total[k];
        worst = fmax(worst, distance(sums[i], exact, count_of(i)));
    }
    return worst;
}

/* Feedback sends later what a step left out: the sum of all results stays near
 * that of all gradients, however many steps there are. */
static void test_feedback(bool feedback, bool exact)
{
    static double given[LAYERS][LONGEST];
    MPI_Comm comm = communicator();
    double first = 0, last = 0;

    memset(sums, 0, sizeof sums);
    memset(given, 0, sizeof given);
    for (int step = 0; step < 160; step++) {
        fill(step);
        step_apart(comm, out);
        for (int i = 0; i < LAYERS; i++)
            for (int k = 0; k < count_of(i); k++) {
                given[i][k] += (double)in[i][k];
                sums[i][k] += out[i][k];
            }
        if (step == 3)
            first = worst_distance(given);
    }
    last = worst_distance(given);
    if (exact)
        ok_all(last < 1e-6, "nothing is left out: %.1e of 160 steps", last);
    else if (feedback)
        ok_all(first > 1e-3 && last < first / 2,
               "what is left out of 4 steps, %.4f, comes later: %.4f of 160",
               first, last);
    else
        ok_all(first > 1e-3 && last > first / 2,
               "nothing is remembered: %.4f of 4 steps, %.4f of 160", first,
               last);
    MPI_Comm_free(&comm);
}

static bool is_finite_but(const float *x, int n, int at)
{
    for (int k = 0; k < n; k++)
        if (k != at && !isfinite(x[k]))
            return false;
    return true;
}

/* A call with an INF or a NaN does not change the error memory. */
static void test_not_finite(float bad, const char *name)
{
    MPI_Comm with = communicator(), without = communicator();
    bool arrives = true, unharmed = true;

    for (int step = 0; step < 6; step++) {
        if (step == 3) {
            fill(99);
            exact_sums(sums);
            if (rank == ranks - 1)
                in[3][77] = bad;
            step_in_place(with, out);
            arrives = (isnan(bad) ? isnan(out[3][77]) : out[3][77] == bad) &&
                      is_finite_but(out[3], count_of(3), 77);
            sums[3][77] = out[3][77] = 0;
            arrives &= distance(out[3], sums[3], count_of(3)) < 1e-6;
        }
        fill(step);
        step_apart(with, out);
        step_apart(without, gradients);
        unharmed &= same(out[3], gradients[3], count_of(3));
    }
    ok_all(arrives,
           "%s arrives in its place, and what is beside it "
           "in full floats",
           name);
    ok_all(unharmed, "... and the steps behind it are as they were");
    MPI_Comm_free(&with);
    MPI_Comm_free(&without);
}

/* Equal magnitudes: a random draw, by the number of the count's calls, selects the
 * elements. A program that varies its counts without end must not fill the memory. */
static void test_counts(void)
{
    const int last = 500 + 4096;

    for (int k = 0; k < LONGEST; k++)
        in[0][k] = 1;
    MPI_Allreduce(in[0], out[0], 500, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(in[0], other[0], 500, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    ok_all(!same(out[0], other[0], 500), "calls of a count are numbered");
    for (int n = 501; n <= last; n++)
        MPI_Allreduce(in[0], other[0], n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(in[0], other[0], 500, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    ok_all(same(out[0], other[0], 500), "... and not kept without end");
    expect_rewritten(3 + last - 500);
}

int main(int argc, char **argv)
{
    const bool counts = argc > 1 && strcmp(argv[1], "counts") == 0;
    const int of = argc > 1 ? atoi(argv[1]) : 1;
    const bool feedback = argc <= 2 || strcmp(argv[2], "off") != 0;
    const int groups = argc > 3 ? atoi(argv[3]) : 1;
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    rank = mpitap_rank();
    ranks = mpitap_size();
    if (counts) {
        test_counts();
    } else {
        test_bits();
        if (of > 0)
            test_low_rank(of);
        if (of == EXACT)
            test_exact(ranks / groups);
        test_feedback(feedback, of == EXACT);
        test_not_finite(NAN, "NaN");
        test_not_finite(-INFINITY, "-INF");
    }
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
