/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sum of at most four ranks that shows whether it was rounded to e3m0.
 */
#ifndef APS_TEST_E3M0_SUM_H
#define APS_TEST_E3M0_SUM_H

#include <mpi.h>

#define E3M0_SUM_COUNT 2048

/* COLLECTIVE over comm. Sums 1.25 of every rank. Returns the value of all
 * elements of the result, or -1 if they differ or the call fails. */
static inline float e3m0_sum(MPI_Comm comm)
{
    float in[E3M0_SUM_COUNT], out[E3M0_SUM_COUNT];

    for (int i = 0; i < E3M0_SUM_COUNT; i++) {
        in[i] = 1.25f;
        out[i] = 0;
    }
    if (MPI_Allreduce(in, out, E3M0_SUM_COUNT, MPI_FLOAT, MPI_SUM, comm) !=
        MPI_SUCCESS)
        return -1;
    for (int i = 1; i < E3M0_SUM_COUNT; i++)
        if (out[i] != out[0])
            return -1;
    return out[0];
}

/* Returns the sum in e3m0: 1.25 becomes 1, and the sum the nearest power of two. */
static inline float e3m0_sum_rounded(int ranks)
{
    const float powers[] = {0, 1, 2, 4, 4};

    return powers[ranks];
}

/* Returns native MPI's sum. */
static inline float e3m0_sum_exact(int ranks)
{
    return 1.25f * (float)ranks;
}

#endif
