/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that programs of some steps share whose inputs do not depend on their
 * sums: three layers of 4096, 1500 and 2048 elements, or the counts of the
 * variable LAYERED_COUNTS (1023,1024,2000). A word tells how they are summed.
 * The stubs source layered.sh.
 */
#ifndef APS_TESTS_MPI_LAYERED_H
#define APS_TESTS_MPI_LAYERED_H

#include <mpi.h>
#include <stdint.h>

#define LAYERED_LAYERS 3
#define LAYERED_MAX 65536 /* elements of all layers */

extern int layered_counts[LAYERED_LAYERS]; /* valid after layered_begin */
extern int layered_all;                    /* their sum */

/* Returns a pseudo-random number of 24 bits. */
uint32_t layered_random(uint32_t *state);

struct layered {
    /* blocking, in-place, nonblocking, persistent or together (all layers in one
     * call) */
    const char *how;
    MPI_Comm comm;
    float in[LAYERED_MAX], out[LAYERED_MAX];
    MPI_Request requests[LAYERED_LAYERS];
};

/* Neither `how` nor `comm` is copied. COLLECTIVE over comm. */
void layered_begin(struct layered *layered, const char *how, MPI_Comm comm);

/* COLLECTIVE. One step: `out` becomes the sum of `in`. */
void layered_sum(struct layered *layered);
void layered_end(struct layered *layered);

/* FNV-1a of the values, from an earlier hash or from LAYERED_HASH. */
#define LAYERED_HASH UINT64_C(0xcbf29ce484222325)
uint64_t layered_hash(uint64_t hash, const float *values, int count);

/* COLLECTIVE over comm. Rank 0 prints "sums WHAT HASH", or "differ" in place of "sums"
 * if the hashes of the ranks differ; `what` ends with a blank, or is empty. */
void layered_tell(MPI_Comm comm, const char *what, uint64_t hash);

#endif
