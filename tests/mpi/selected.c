/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selected elements, by every reduction: the sent elements and the error memory add up
 * to the sum of all gradients; a density of 1 sends everything.
 *
 *     selected telescope [STEPS]  feedback, of the layers of a step
 *     selected all      a density of 1
 *     selected bits     prints a hash of the results, which the script compares
 *     selected bytes COUNT EVERY   one call; the greatest elements of a rank
 *                       are those with numbers EVERY * j + rank
 *
 * Gradients and the rounding errors of the formats are whole numbers: sums are exact.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define LONGEST 20000
#define LAYERS 3

/* Layers of a step, one after the other in `in`. */
static const int counts[LAYERS] = {700, 3, 128};
#define STEP 831

static int rank, ranks;
static float in[LONGEST], out[LONGEST];
static double sum[LONGEST], wide[LONGEST], total[LONGEST];

/* Returns a value in -8 ... 8. */
static float draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)((int)(*seed >> 8) % 17 - 8);
}

static void step(void)
{
    int at = 0;

    for (int i = 0; i < LAYERS; i++) {
        MPI_Allreduce(in + at, out + at, counts[i], MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
        at += counts[i];
    }
}

/* Steps of zeros send the error memory, piece by piece. */
static void test_telescope(int steps)
{
    bool alike = true, exact = true, late = false;
    int left = 0;

    for (int t = 0; t < steps + 200; t++) {
        unsigned seed = (unsigned)(31 * t + rank);

        for (int i = 0; i < STEP; i++) {
            in[i] = t < steps ? draw(&seed) : 0;
            wide[i] += (double)in[i];
        }
        step();
        alike &= same_on_all(out, STEP * sizeof *out);
        for (int i = 0; i < STEP; i++) {
            sum[i] += (double)out[i];
            late |= t >= steps && out[i] != 0;
        }
    }
    MPI_Allreduce(wide, total, STEP, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < STEP; i++) {
        left += sum[i] != total[i];
        exact &= sum[i] == total[i];
    }
    if (!exact)
        diag("%d of %d elements are wrong", left, STEP);
    ok_all(alike, "%d steps have the same bits on all ranks", steps);
    ok_all(late, "something is remembered ...");
    ok_all(exact, "... and is, with what was sent, the sum of all gradients");
}

static void test_all(void)
{
    bool exact = true;

    for (int n = 1; n <= LONGEST; n = 3 * n + 1) {
        unsigned seed = (unsigned)(rank + n);

        for (int i = 0; i < n; i++) {
            in[i] = draw(&seed);
            wide[i] = (double)in[i];
        }
        MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(wide, total, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++)
            exact &= (double)out[i] == total[i];
    }
    ok_all(exact, "a density of 1 gives the exact sum");
}

static void test_bits(void)
{
    uint64_t number = 0;
    bool alike = true, sent = false;

    for (int n = 1; n <= LONGEST; n = 3 * n + 1) {
        unsigned seed = (unsigned)(rank + n);

        for (int i = 0; i < n; i++)
            in[i] = sinf(draw(&seed)) * (float)(i % 7);
        MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        alike &= same_on_all(out, (size_t)n * sizeof *out);
        for (int i = 0; i < n; i++) {
            uint32_t bits;

            memcpy(&bits, &out[i], sizeof bits);
            number = (number ^ bits) * UINT64_C(0x100000001b3);
            sent |= out[i] != 0;
        }
    }
    ok_all(alike && sent, "all ranks have the same bits");
    if (rank == 0)
        diag("results %016llx", (unsigned long long)number);
}

/* The greatest elements of all ranks arrive. */
static void test_bytes(int n, int every)
{
    bool right = true;

    for (int i = 0; i < n; i++)
        in[i] = i % every == rank ? 2 : 0;
    MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        right &= out[i] == (i % every < ranks ? 2.0f : 0.0f);
    ok_all(right, "what every rank has selected arrives");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    rank = mpitap_rank();
    ranks = mpitap_size();
    if (strcmp(what, "telescope") == 0)
        test_telescope(argc > 2 ? atoi(argv[2]) : 1000);
    else if (strcmp(what, "all") == 0)
        test_all();
    else if (strcmp(what, "bits") == 0)
        test_bits();
    else if (strcmp(what, "bytes") == 0 && argc > 3)
        test_bytes(atoi(argv[2]), atoi(argv[3]));
    else
        return 99;
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
