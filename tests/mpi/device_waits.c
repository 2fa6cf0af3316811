/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often a rank waits for its GPU in an all-reduce, and how many kernels it
 * starts, for each chunk and once for the exponent (formats of 8 bits):
 *
 *   inside a node, by CUDA IPC  3 waits, 3 * ranks + 1 kernels; 4 Mi elements
 *   an MPI that is aware        5 waits, 3 * ranks + 1 kernels; 2 Mi elements
 *   blocks in host memory       a wait for what it encodes and one for what it
 *                               decodes, and a kernel for each block; one more of
 *                               both where each block has a scale of its own
 */
#include "device_calls.h"

#include "config.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "mpitap.h"

#define MI ((size_t)1024 * 1024)

struct costs {
    size_t chunk;        /* elements */
    long waits, kernels; /* waits and kernels of a chunk */
    long once;           /* waits and kernels, for the exponent of a call */
};

/* `how`: see run_waits in device_calls.h. */
static struct costs costs_of(const char *how)
{
    size_t chunk;
    int encoded, decoded, own;

    if (sscanf(how, "%zu:%d:%d:%d", &chunk, &encoded, &decoded, &own) == 4)
        return (struct costs){.chunk = chunk,
                              .waits = own ? 3 : 2,
                              .kernels =
                                  (own ? 2L : 1L) * encoded + (long)decoded,
                              .once = own ? 0 : 1};
    if (strcmp(how, "aware") == 0)
        return (struct costs){2 * MI, 5, 3 * ranks + 1, 1};
    return (struct costs){4 * MI, 3, 3 * ranks + 1, 1};
}

static void test_waits(const struct costs *costs, float *x, size_t n)
{
    const long chunks = (long)((n + costs->chunk - 1) / costs->chunk);
    const long waits = costs->waits * chunks + costs->once,
               kernels = costs->kernels * chunks + costs->once;
    long waited = 0, started = 0, waited_before = 0, started_before = 0;
    bool counted = gpu_counts(&waited_before, &started_before);

    MPI_Allreduce(MPI_IN_PLACE, x, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    counted &= gpu_counts(&waited, &started);
    waited -= waited_before;
    started -= started_before;
    ok_all(counted && waited == waits, "%zu elements: %ld waits of %ld", n,
           waited, waits);
    ok_all(counted && started == kernels, "... and %ld kernels of %ld", started,
           kernels);
}

void run_waits(const char *how)
{
    const struct costs costs = costs_of(how);
    const size_t n = 6 * MI + 1024; /* no slice is empty */
    float *device = gpu_alloc(n * sizeof *device, false);
    float *x = calloc(n, sizeof *x);

    gpu_put(device, x, n * sizeof *x);
    MPI_Allreduce(MPI_IN_PLACE, device, 100000, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD); /* allocates the shared memory */
    test_waits(&costs, device, 1000000);
    test_waits(&costs, device, n);
    free(x);
    gpu_free(device);
}
