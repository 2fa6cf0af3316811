/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the library's calls of MPI in a number of equal steps, after some
 * other steps: inject.c, which is preloaded first, counts them. Rank 0 prints
 * the number; the script compares policies.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

#include "mpitap.h"

#define FIRST 20
#define STEPS 10
#define LAYERS 3
#define LONGEST 200000

static const int counts[LAYERS] = {1000, LONGEST, 7};

static float in[LONGEST], out[LONGEST];

static void run(int steps)
{
    for (int step = 0; step < steps; step++)
        for (int i = 0; i < LAYERS; i++)
            MPI_Allreduce(in, out, counts[i], MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
}

static long count_calls(long (*count)(const char *function))
{
    static const char *const functions[] = {"PMPI_Isend",      "PMPI_Irecv",
                                            "PMPI_Iallreduce", "PMPI_Ibcast",
                                            "PMPI_Ibarrier",   ""};
    long calls = 0;

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        calls += count(functions[i]);
    return calls;
}

int main(int argc, char **argv)
{
    long (*count)(const char *function);
    long before, calls;
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    *(void **)&count = dlsym(RTLD_DEFAULT, "inject_count");
    if (!count)
        bail_out("inject.so is not preloaded");
    for (int i = 0; i < LONGEST; i++)
        in[i] = (float)(i % 100 - 50) / 64;
    run(FIRST);
    before = count_calls(count);
    run(STEPS);
    calls = count_calls(count) - before;
    if (mpitap_rank() == 0)
        diag("%ld calls of MPI", calls);
    ok_all(calls >= 0, "there is a number");
    expect_rewritten((FIRST + STEPS) * LAYERS);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
