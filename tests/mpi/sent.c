/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures what rank 0 really sends, call by call, by a library that counts the
 * calls of PMPI_ (tests/figures/count.c, preloaded first).
 *
 *     sent STEPS FILE COUNT...    a layer for each count; writes lines of step,
 *                                 layer, messages, bytes and the greatest
 *                                 difference from the sum
 */
#include "config.h"

#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpitap.h"
#include "tests/figures/count.h"

static void fill(int layer, int step, int rank, float *x, int n)
{
    uint32_t state =
        (uint32_t)(step * 1000 + layer * 100 + rank) * 2654435761u + 1;

    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)state * 0x1p-31f;
    }
}

/* Returns the greatest difference from a sum x[n]. */
static double difference(int layer, int step, const float *x, int n)
{
    double *sum = calloc((size_t)n, sizeof *sum), greatest = 0;
    float *y = malloc((size_t)n * sizeof *y);

    for (int rank = 0; rank < mpitap_size(); rank++) {
        fill(layer, step, rank, y, n);
        for (int i = 0; i < n; i++)
            sum[i] += (double)y[i];
    }
    for (int i = 0; i < n; i++)
        greatest = fmax(greatest, fabs(sum[i] - (double)x[i]));
    free(sum);
    free(y);
    return greatest;
}

int main(int argc, char **argv)
{
    count_read_fn count_read;
    FILE *file = NULL;
    int status;

    *(void **)&count_read = dlsym(RTLD_DEFAULT, "count_read");
    if (!count_read || argc < 4)
        return 99;
    MPI_Init(&argc, &argv);
    mpitap_begin();
    if (mpitap_rank() == 0)
        file = fopen(argv[2], "w");
    for (int step = 0; step < atoi(argv[1]); step++)
        for (int i = 3; i < argc; i++) {
            const int n = atoi(argv[i]);
            float *x = malloc((size_t)n * sizeof *x);
            struct counts before, after;

            fill(i, step, mpitap_rank(), x, n);
            count_read(&before);
            MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
            count_read(&after);
            if (file)
                fprintf(file, "%d %d %ld %ld %g\n", step, i - 3,
                        after.messages - before.messages,
                        after.bytes - before.bytes, difference(i, step, x, n));
            free(x);
        }
    ok_all(mpitap_rank() > 0 || (file && fclose(file) == 0),
           "what is sent is counted");
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
