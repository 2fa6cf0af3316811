/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of some steps for candidates, whose gradients have many magnitudes:
 *
 *     shadowed HOW [STEPS [MICROSECONDS]]
 *
 * HOW is one of layered.h. Between two steps there are MICROSECONDS of work.
 * Rank 0 prints a hash of all sums, which must be the same on all ranks.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

#include "layered.h"

#define STEPS 8

static struct layered layered;

/* Fills gradients of many magnitudes, greater from step to step, with zeros. */
static void fill(int step, int rank)
{
    uint32_t state = (uint32_t)(1 + step * 1009 + rank * 9176);

    for (int i = 0; i < layered_all; i++) {
        const float value = (float)layered_random(&state) / (1 << 24) - 0.5f;
        const int power = (int)(layered_random(&state) % 24) - 22 + step;

        layered.in[i] =
            layered_random(&state) % 16 == 0 ? 0 : ldexpf(value, power);
    }
}

static void work(double microseconds)
{
    const double begin = MPI_Wtime();

    while (MPI_Wtime() - begin < 1e-6 * microseconds)
        ;
}

int main(int argc, char **argv)
{
    const int steps = argc > 2 ? atoi(argv[2]) : STEPS;
    const double microseconds = argc > 3 ? atof(argv[3]) : 0;
    uint64_t hash = LAYERED_HASH;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    layered_begin(&layered, argc > 1 ? argv[1] : "blocking", MPI_COMM_WORLD);
    for (int step = 0; step < steps; step++) {
        fill(step % STEPS, rank);
        work(microseconds);
        layered_sum(&layered);
        hash = layered_hash(hash, layered.out, layered_all);
    }
    layered_end(&layered);
    layered_tell(MPI_COMM_WORLD, "", hash);
    MPI_Finalize();
    return 0;
}
