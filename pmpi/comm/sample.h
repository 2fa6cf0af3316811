/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of the round-off: on sampled steps the exact sum of the same inputs
 * is computed beside the low-precision one, and rank 0 writes the difference
 * into the log.
 */
#ifndef APS_PMPI_COMM_SAMPLE_H
#define APS_PMPI_COMM_SAMPLE_H

#include <stddef.h>

#include "codec/memory.h"
#include "progress/vcomm.h"
#include "roundoff/measure.h"

/* Longer layers are not sampled: rank 0 keeps 8 bytes an element. */
#define APS_SAMPLE_MAX ((size_t)1 << 27)

/* Scratch, reused from sample to sample. {0} is an empty one. */
struct aps_sample {
    double *chunk;     /* this rank's inputs, converted */
    double *partial;   /* sums of other ranks */
    float *copy;       /* the same, where they are not in the host's memory */
    double *reference; /* where it is asked for: the exact sum of a layer */
    size_t capacity;   /* elements of reference */
};

/* Allocate what every rank needs; local. 0 or -1. Values, below, are in memory
 * `memory`. */
int aps_sample_init(struct aps_sample *sample);
void aps_sample_clear(struct aps_sample *sample);

/*
 * COLLECTIVE over vcomm, before the layer is reduced. The FP64 sum of in[n]
 * over the ranks, always added in the same order, is kept on `root`. *ready
 * tells, there, whether it is there (it is not when memory is short or a
 * message has failed: the sample is then lost, nothing else). MPI_SUCCESS.
 */
int aps_sample_reference(struct aps_sample *sample,
                         const struct aps_vcomm *vcomm, int root,
                         const struct aps_memory *memory, const float *in,
                         size_t n, int *ready);

/* Local. The same for values that nobody adds to: in[n] are kept. */
void aps_sample_keep(struct aps_sample *sample, const struct aps_memory *memory,
                     const float *in, size_t n, int *ready);

/* COLLECTIVE over vcomm. On rank 0 *measure becomes that of all ranks' parts,
 * and *ready tells whether none is missing. An MPI error code. */
int aps_sample_merge(const struct aps_vcomm *vcomm, struct aps_measure *measure,
                     int *ready);

/* Where the reference is, afterwards: compare out[n] with it. */
void aps_sample_compare(const struct aps_sample *sample,
                        const struct aps_memory *memory, const float *out,
                        size_t n, struct aps_measure *measure);

#endif
