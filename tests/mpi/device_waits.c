/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often a rank waits for its GPU in an all-reduce, and how many kernels it
 * starts: 3 * ranks + 1 kernels for each chunk, and 3 waits inside a node, where
 * chunks have 4 Mi elements, or 5 where an MPI that is aware sends the blocks, and
 * chunks have 2 Mi (formats of 8 bits); and one more of both for the exponent.
 */
#include "device_calls.h"

#include "config.h"

#include <mpi.h>
#include <stdlib.h>

#include "gpu.h"
#include "mpitap.h"

#define CHUNK ((size_t)4 * 1024 * 1024)
#define AWARE_CHUNK ((size_t)2 * 1024 * 1024)

static void test_waits(bool aware, float *x, size_t n)
{
    const size_t chunk = aware ? AWARE_CHUNK : CHUNK;
    const long chunks = (long)((n + chunk - 1) / chunk);
    const long waits = (aware ? 5 : 3) * chunks + 1,
               kernels = (3 * ranks + 1) * chunks + 1;
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

void run_waits(bool aware)
{
    const size_t n = CHUNK + CHUNK / 2 + 1024; /* no slice is empty */
    float *device = gpu_alloc(n * sizeof *device, false);
    float *x = calloc(n, sizeof *x);

    gpu_put(device, x, n * sizeof *x);
    MPI_Allreduce(MPI_IN_PLACE, device, 100000, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD); /* makes what is shared */
    test_waits(aware, device, 1000000);
    test_waits(aware, device, n);
    free(x);
    gpu_free(device);
}
