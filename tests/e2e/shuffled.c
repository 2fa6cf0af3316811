/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums layers as Horovod does: each by a call of its own, in an order that changes
 * from step to step and is the same on all ranks.
 *
 *   shuffled STEPS COUNT...
 *
 * Each layer is a matrix of rank 1, so that PowerSGD loses little of it. Prints
 * the greatest relative error of a layer's sum over the last half of the steps.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#define LAYERS_MAX 16
#define COLUMNS 32 /* columns of each layer's matrix */

static unsigned state = 3;

static unsigned draw(unsigned n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % n;
}

static double factor(int layer, int step, int i)
{
    return 1 + (double)((i * 7 + step * 3 + layer * 5) % 11) / 16;
}

static double value(int layer, int step, int rank, int i)
{
    return (rank + 1) * factor(layer, 0, i / COLUMNS) *
           factor(layer, step, i % COLUMNS) / (1 << layer);
}

/* Sums the layer over all ranks; returns the relative error. */
static double sum(int layer, int count, int step)
{
    float *values = malloc((size_t)count * sizeof *values);
    double off = 0, norm = 0;
    int rank, ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!values)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < count; i++)
        values[i] = (float)value(layer, step, rank, i);
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        const double wanted =
            value(layer, step, 0, i) * ranks * (ranks + 1) / 2;

        off += (values[i] - wanted) * (values[i] - wanted);
        norm += wanted * wanted;
    }
    free(values);
    return sqrt(off / norm);
}

int main(int argc, char **argv)
{
    int order[LAYERS_MAX], counts[LAYERS_MAX], layers, steps, rank;
    double worst = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    layers = argc - 2;
    if (layers < 1 || layers > LAYERS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    steps = atoi(argv[1]);
    for (int i = 0; i < layers; i++) {
        counts[i] = atoi(argv[2 + i]);
        order[i] = i;
    }
    for (int step = 0; step < steps; step++) {
        for (int i = layers - 1; i > 0; i--) {
            const int j = (int)draw((unsigned)i + 1), last = order[i];

            order[i] = order[j];
            order[j] = last;
        }
        for (int i = 0; i < layers; i++) {
            const double off = sum(order[i], counts[order[i]], step);

            if (step >= steps / 2 && off > worst)
                worst = off;
        }
    }
    if (rank == 0)
        printf("error %.6f\n", worst);
    MPI_Finalize();
    return 0;
}
