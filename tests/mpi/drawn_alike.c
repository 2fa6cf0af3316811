/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes two calls of ELEMENTS floats whose roundings use random bits, and
 * prints a line with their bits: `# bits HASH`, which is the same for every
 * argument. `alone`: the program waits for the first call before it makes the
 * second; `together`: it makes both calls first; `later`: like `alone`, but a
 * long call comes before both, for which the library prepares longer buffers.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

/* The end of a size class: see reduction.c. */
#define ELEMENTS 16000
#define SHORT 16
#define LONG 200000

static float in[2][ELEMENTS], out[2][ELEMENTS];

static void fill(void)
{
    unsigned seed = 11 + (unsigned)mpitap_rank();

    for (int call = 0; call < 2; call++)
        for (int i = 0; i < ELEMENTS; i++) {
            seed = seed * 1664525u + 1013904223u;
            in[call][i] = ldexpf((float)(int)(seed >> 8) - 8388608.0f, -24);
        }
}

/* FNV-1a. */
static uint64_t hash(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t result = 14695981039346656037u;

    for (size_t i = 0; i < size; i++)
        result = (result ^ byte[i]) * 1099511628211u;
    return result;
}

static void reduce(int call, MPI_Request *request)
{
    MPI_Iallreduce(in[call], out[call], ELEMENTS, MPI_FLOAT, MPI_SUM,
                   MPI_COMM_WORLD, request);
}

static void reduce_before(int elements)
{
    static float values[LONG];

    MPI_Allreduce(MPI_IN_PLACE, values, elements, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    MPI_Request requests[2];
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    fill();
    reduce_before(strcmp(mode, "later") == 0 ? LONG : SHORT);
    reduce(0, &requests[0]);
    if (strcmp(mode, "together") != 0)
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    reduce(1, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    ok_all(same_on_all(out, sizeof out), "%s: the same bits on all ranks",
           mode);
    if (mpitap_rank() == 0)
        printf("# bits %016llx\n", (unsigned long long)hash(out, sizeof out));
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
