/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signSGD with majority vote: every element is the sign that most ranks have,
 * or 0, times the sum of the ranks' mean magnitudes or of the policy's value;
 * layers with INF or NaN are reduced in FP32.
 *
 *     vote all VALUE     0: means
 *     vote bytes COUNT   one call of COUNT elements
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define LONGEST 10000

static int ranks, rank;
static float in[LONGEST], out[LONGEST], other[LONGEST];
static int signs[LONGEST], sums[LONGEST];
static double value;

static float draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int)(*seed >> 8) / 8388608.0f - 1;
}

static void fill(int n, unsigned seed)
{
    seed += 7919u * (unsigned)rank;
    for (int i = 0; i < n; i++) {
        in[i] = draw(&seed);
        /* Zeros vote, too. */
        if (i % 11 == rank)
            in[i] = i % 2 ? 0.0f : -0.0f;
        signs[i] = signbit(in[i]) ? -1 : 1;
    }
}

/* Returns about the sum of the means of all ranks. */
static double magnitude(int n)
{
    double sum = 0, total;

    for (int i = 0; i < n; i++)
        sum += fabs((double)in[i]) / n;
    sum = value > 0 ? value : sum;
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

static void test_votes(void)
{
    bool right = true, alike = true, placed = true, ties = ranks % 2;

    for (int n = 1; n <= LONGEST; n = 3 * n + 2) {
        double scale;

        fill(n, (unsigned)n);
        scale = magnitude(n);
        MPI_Allreduce(signs, sums, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        memcpy(other, in, (size_t)n * sizeof *in);
        MPI_Allreduce(MPI_IN_PLACE, other, n, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
        alike &= same_on_all(out, (size_t)n * sizeof *out);
        placed &= memcmp(out, other, (size_t)n * sizeof *out) == 0;
        for (int i = 0; i < n; i++) {
            const int sign = (sums[i] > 0) - (sums[i] < 0);

            right &= fabs((double)out[i] - sign * scale) <= 1e-6 * scale &&
                     (sign != 0 || out[i] == 0);
            ties |= sign == 0;
        }
    }
    ok_all(right, "results are the signs of most, times the magnitude");
    ok_all(alike, "... the same bits on all ranks");
    ok_all(placed, "... in place as well");
    ok_all(ties, "... and 0 where half of the ranks are against it");
}

static void test_not_finite(float bad, const char *name)
{
    const int n = 1000;
    bool arrives, well = true;

    for (int i = 0; i < n; i++)
        in[i] = (float)(i % 5);
    if (rank == ranks - 1)
        in[77] = bad;
    MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    arrives = isnan(bad) ? isnan(out[77]) : out[77] == bad;
    for (int i = 0; i < n; i++)
        arrives &= i == 77 || out[i] == (float)(ranks * (i % 5));
    ok_all(arrives,
           "%s arrives in its place, and what is beside it in full floats",
           name);
    in[77] = 2;
    MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        well &= out[i] == out[0] && out[i] > 0;
    ok_all(well, "... and the next call is as it was");
}

static void test_bytes(int n)
{
    fill(n, 3);
    MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    ok_all(true, "a call of %d elements", n);
}

int main(int argc, char **argv)
{
    const bool bytes = argc > 2 && strcmp(argv[1], "bytes") == 0;
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    rank = mpitap_rank();
    ranks = mpitap_size();
    if (bytes) {
        test_bytes(atoi(argv[2]));
    } else {
        value = argc > 2 ? atof(argv[2]) : 0;
        test_votes();
        test_not_finite(NAN, "NaN");
        test_not_finite(-INFINITY, "-INF");
    }
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
