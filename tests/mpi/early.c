/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vectors that are encoded beside the search for their maximum, by a guess from the
 * calls before: the sums have the bits of those that nobody has guessed, whether the
 * guess is right, wrong or made by some ranks alone.
 *
 * Run with a policy of `scale: aps`, `reduce: hierarchical`, and APSMPI_EARLY.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define MOST 300001 /* a few chunks, and a rest */
#define APART 64    /* floats: places that no call has been at yet */
#define CALLS ((size_t)400)

static float *fresh_places, *place, *result, *expected;
static size_t calls;

/* The exponent of the greatest value, step by step: guesses are right, too small, and
 * too great. */
static const int exponents[] = {0,   0, 0, 0, 0, 0,  0,   0,   3,   3,   -20,
                                -20, 3, 3, 3, 3, -1, 100, 100, 100, 100, 100};
#define STEPS ((int)(sizeof exponents / sizeof *exponents))

static void fill(float *x, int n, int step)
{
    uint32_t state = (uint32_t)(mpitap_rank() * 1000 + step + 1);

    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = ldexpf((float)(int32_t)state * 0x1p-31f, exponents[step]);
    }
    x[n / 2] = ldexpf(mpitap_rank() == 0 ? -1 : 0.75f, exponents[step]);
    /* Only here may sums not be finite. */
    if (step == 7 && mpitap_rank() == 1)
        x[n - 1] = INFINITY;
    if (step == 14)
        x[0] = NAN;
}

static float *fresh(void)
{
    if (calls == CALLS)
        abort();
    return fresh_places + APART * calls++;
}

/* From a place that the calls share, in place in some steps. On another communicator,
 * one rank has a fresh place in one step, and guesses nothing, while the others do. */
static void reduce(const float *x, int n, int step, MPI_Comm comm)
{
    const bool alone =
        step == 11 && comm != MPI_COMM_WORLD && mpitap_rank() == 1;
    float *from = alone ? fresh() : place;

    memcpy(from, x, (size_t)n * sizeof *x);
    if (step % 2 == 0) {
        MPI_Allreduce(from, result, n, MPI_FLOAT, MPI_SUM, comm);
        return;
    }
    MPI_Allreduce(MPI_IN_PLACE, from, n, MPI_FLOAT, MPI_SUM, comm);
    memcpy(result, from, (size_t)n * sizeof *x);
}

static void test_length(int n, MPI_Comm comm, const char *name)
{
    bool same = true, alike = true;

    for (int step = 0; step < STEPS; step++) {
        float *x = fresh();

        fill(x, n, step);
        MPI_Allreduce(x, expected, n, MPI_FLOAT, MPI_SUM, comm);
        reduce(x, n, step, comm);
        same &= memcmp(result, expected, (size_t)n * sizeof *x) == 0;
        alike &= same_on_all(result, (size_t)n * sizeof *x);
    }
    ok_all(same, "%d floats on %s: the sums of vectors nobody has guessed", n,
           name);
    ok_all(alike, "... on all ranks");
}

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 1000, 131071, MOST, 70000};
    MPI_Comm dup;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    fresh_places = malloc((MOST + APART * CALLS) * sizeof *fresh_places);
    place = malloc(MOST * sizeof *place);
    result = malloc(MOST * sizeof *result);
    expected = malloc(MOST * sizeof *expected);
    if (!fresh_places || !place || !result || !expected)
        abort();
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        test_length(lengths[i], MPI_COMM_WORLD, "the world");
    test_length(MOST / 2, dup, "another communicator");
    MPI_Comm_free(&dup);
    free(expected);
    free(result);
    free(place);
    free(fresh_places);
    const int status = mpitap_end();
    MPI_Finalize();
    return status;
}
