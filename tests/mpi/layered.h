/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs of some steps share whose inputs do not depend on their sums: three
 * layers of different sizes, which a word says how to sum. Of those that print for the
 * stubs that source layered.sh.
 */
#ifndef APS_TESTS_MPI_LAYERED_H
#define APS_TESTS_MPI_LAYERED_H

#include <mpi.h>
#include <stdint.h>

#define LAYERED_LAYERS 3
#define LAYERED_ALL (4096 + 1500 + 2048)

extern const int layered_counts[LAYERED_LAYERS];

/* A pseudo-random number of 24 bits. */
uint32_t layered_random(uint32_t *state);

struct layered {
    const char
        *how; /* blocking, in-place, nonblocking, persistent or together (all
                        layers in one call) */
    MPI_Comm comm;
    float in[LAYERED_ALL], out[LAYERED_ALL];
    MPI_Request requests[LAYERED_LAYERS];
};

/* Neither `how` nor `comm` is copied. COLLECTIVE over comm. */
void layered_begin(struct layered *layered, const char *how, MPI_Comm comm);

/* COLLECTIVE. One step: out is the sum of in. */
void layered_sum(struct layered *layered);
void layered_end(struct layered *layered);

/* FNV-1a of the values, from an earlier hash or from LAYERED_HASH. */
#define LAYERED_HASH UINT64_C(0xcbf29ce484222325)
uint64_t layered_hash(uint64_t hash, const float *values, int count);

/* COLLECTIVE over comm. Rank 0 prints "sums WHAT HASH", or "differ" in the place of
 * "sums" where the ranks have not all the same hash; `what` ends with a blank, or is
 * empty. */
void layered_tell(MPI_Comm comm, const char *what, uint64_t hash);

#endif
