/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions with roundings by random bits: the same bits on all ranks, and
 * other bits in every call. Errors have mean 0 and, if the ranks' values are
 * equal, are smaller if the bits are correlated. A call that overflowed nowhere
 * has no INF. `drawn policy` prints the policy to run with.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 4096 /* first count of the first shape's calls */
#define CALLS 12

static const struct shape {
    const char *reduce;
    bool gains; /* values of several ranks are rounded before they are added */
} shapes[] = {
    {"direct", true},       {"gather", true}, {"{master: 2}", true},
    {"hierarchical", true}, {"ring", false},
};
#define SHAPES ((int)(sizeof shapes / sizeof *shapes))
static const char *const roundings[] = {"stochastic", "correlated"};

/* Returns the count of a shape and a rounding, and of e3m0 with APS. */
static int count_of(int shape, int rounding)
{
    return COUNT + 2 * shape + rounding;
}
#define E3M0_COUNT (COUNT + 2 * SHAPES)

/* Returns the count of a shape whose partial sums are e3m0, too. */
static int count_of_sums(int shape)
{
    return E3M0_COUNT + 1 + shape;
}
#define E3M0_MAX (E3M0_COUNT + SHAPES)

/* Formats that use random bits by default. */
static const char *const drawn[] = {"qsgd7/512", "qsgd1/128", "qsgd31/64-l2"};
#define DRAWN ((int)(sizeof drawn / sizeof *drawn))

static int count_of_drawn(int shape, int format)
{
    return E3M0_MAX + 1 + DRAWN * shape + format;
}

static void print_policy(void)
{
    printf("version: 1\nrules:\n");
    for (int s = 0; s < SHAPES; s++) {
        for (int r = 0; r < 2; r++)
            printf("  - {max_count: %d, format: e4m3, scale: none, reduce: %s, "
                   "rounding: {%s: %d}}\n",
                   count_of(s, r), shapes[s].reduce, roundings[r], s);
    }
    printf("  - {max_count: %d, format: e3m0, scale: aps, rounding: "
           "stochastic}\n",
           E3M0_COUNT);
    for (int s = 0; s < SHAPES; s++)
        printf("  - {max_count: %d, format: e3m0, scale: aps, rounding: "
               "stochastic, accumulate: format, reduce: %s}\n",
               count_of_sums(s), shapes[s].reduce);
    for (int s = 0; s < SHAPES; s++) {
        for (int f = 0; f < DRAWN; f++)
            printf("  - {max_count: %d, format: %s, reduce: %s}\n",
                   count_of_drawn(s, f), drawn[f], shapes[s].reduce);
    }
}

struct error {
    double mean;
    double
        squares; /* mean of the squares, of the parts that are 0 on average */
    bool alike;  /* the same on all ranks */
    bool other;  /* differs from the previous call */
};

/*
 * Sums values in [1, 2) that are equal on all ranks or, if `opposed`, have opposite
 * signs on every second rank: then the sum is small, and so is its own rounding.
 */
static struct error error_of(int count, bool opposed)
{
    const float sign = opposed && mpitap_rank() % 2 != 0 ? -1 : 1;
    const double times = opposed ? mpitap_size() % 2 : mpitap_size();
    float *x = malloc((size_t)count * sizeof *x);
    float *sum = malloc((size_t)count * sizeof *sum);
    float *before = calloc((size_t)count, sizeof *sum);
    struct error error = {0, 0, true, true};

    if (!x || !sum || !before)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < count; i++)
        x[i] = sign * (1 + (float)(i * 619 % count) / (float)count);
    for (int c = 0; c < CALLS; c++) {
        MPI_Allreduce(x, sum, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        error.alike &= same_on_all(sum, (size_t)count * sizeof *sum);
        error.other &= memcmp(sum, before, (size_t)count * sizeof *sum) != 0;
        for (int i = 0; i < count; i++) {
            double off = (double)sum[i] - times * fabs((double)x[i]);

            error.mean += off / count / CALLS;
            error.squares += off * off / count / CALLS;
        }
        memcpy(before, sum, (size_t)count * sizeof *sum);
    }
    free(x);
    free(sum);
    free(before);
    return error;
}

static void test_error(const struct error *error, const char *reduce,
                       const char *how)
{
    const double samples = (double)CALLS * COUNT;

    ok_all(error->alike, "%s, %s: the same on all ranks", reduce, how);
    ok_all(error->other, "... and other bits in every call");
    ok_all(error->squares > 0 &&
               fabs(error->mean) < 5 * sqrt(error->squares / samples),
           "... errors of mean 0 (%.5f)", error->mean);
}

static void test_shape(int s)
{
    struct error errors[2];

    for (int r = 0; r < 2; r++) {
        errors[r] = error_of(count_of(s, r), shapes[s].gains);
        test_error(&errors[r], shapes[s].reduce, roundings[r]);
    }
    for (int f = 0; f < DRAWN; f++) {
        const struct error error =
            error_of(count_of_drawn(s, f), shapes[s].gains);

        test_error(&error, shapes[s].reduce, drawn[f]);
    }
    if (shapes[s].gains && mpitap_size() > 1)
        ok_all(errors[1].squares < 0.95 * errors[0].squares,
               "... and smaller ones: %.5f, not %.5f", errors[1].squares,
               errors[0].squares);
}

/* Tests the largest values that APS leaves range for: all may be rounded up. */
static void test_largest(int count, const char *what)
{
    const int ranks = mpitap_size();
    float x[E3M0_MAX], sum[E3M0_MAX];
    bool finite = true;
    int room = 1;

    while (room < ranks)
        room *= 2;
    for (int i = 0; i < count; i++)
        x[i] = (float)room / (float)ranks * (1 - (float)(i % 7 + 1) / 64);
    for (int c = 0; c < CALLS; c++) {
        MPI_Allreduce(x, sum, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < count; i++)
            finite = finite && isfinite(sum[i]);
    }
    ok_all(finite, "e3m0, aps%s: sums stay finite", what);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "policy") == 0) {
        print_policy();
        return 0;
    }
    MPI_Init(&argc, &argv);
    mpitap_begin();
    for (int s = 0; s < SHAPES; s++)
        test_shape(s);
    test_largest(E3M0_COUNT, "");
    for (int s = 0; s < SHAPES; s++) {
        char what[64];

        snprintf(what, sizeof what, ", partial sums in it, %s",
                 shapes[s].reduce);
        test_largest(count_of_sums(s), what);
    }
    int status = mpitap_end();

    MPI_Finalize();
    return status;
}
