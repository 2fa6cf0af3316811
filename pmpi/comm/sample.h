/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of the round-off error. In sampled steps the ranks also compute the
 * exact sum of the same inputs, and rank 0 writes its difference from the
 * low-precision sum into the log.
 */
#ifndef APS_PMPI_COMM_SAMPLE_H
#define APS_PMPI_COMM_SAMPLE_H

#include <stddef.h>

#include "codec/memory.h"
#include "message/vcomm.h"
#include "roundoff/binades.h"
#include "roundoff/measure.h"

/* Maximum number of elements of a sampled layer, because a rank keeps 8 bytes
 * for each element. */
#define APS_SAMPLE_MAX ((size_t)1 << 27)

/* Scratch memory, kept from sample to sample. {0} is empty. */
struct aps_sample {
    double *chunk;     /* this rank's inputs, converted */
    double *partial;   /* sums of other ranks */
    float *copy;       /* a copy of values from GPU memory */
    double *reference; /* on the root: the exact sum of a layer */
    size_t capacity;   /* elements of reference */
};

/* Local. Allocates the memory that every rank needs, unless the sample has it.
 * Returns 0, or -1 if memory is missing. In the functions below `memory` is the
 * memory of in[] and out[]. */
int aps_sample_init(struct aps_sample *sample);
void aps_sample_clear(struct aps_sample *sample);

/* Local. Makes room for a reference of n elements, on the rank that keeps it.
 * The functions below also do so if necessary. Returns 0, or -1 if memory is
 * missing. */
int aps_sample_reserve(struct aps_sample *sample, size_t n);

/*
 * COLLECTIVE over vcomm, before the layer is reduced. Rank `root` keeps the
 * FP64 sum of in[n] over the ranks, which is always added in the same order. On
 * the root *ready becomes 1, or 0 if memory was missing or a message failed.
 * Returns an MPI error code. After an error only the sample is lost: its
 * messages have been sent and received.
 */
int aps_sample_reference(struct aps_sample *sample,
                         const struct aps_vcomm *vcomm, int root,
                         const struct aps_memory *memory, const void *in,
                         size_t n, int *ready);

/* Local. Keeps in[n] as the reference of an all-gather, which adds nothing. */
void aps_sample_keep(struct aps_sample *sample, const struct aps_memory *memory,
                     const void *in, size_t n, int *ready);

/* COLLECTIVE over vcomm. On rank 0 *measure becomes the measure of the parts of
 * all ranks, and *ready becomes 1 if no part is missing, otherwise 0. Returns
 * an MPI error code. After an error only the sample is lost: its messages have
 * been sent and received. */
int aps_sample_merge(const struct aps_vcomm *vcomm, struct aps_measure *measure,
                     int *ready);

/* Local, on the rank that keeps the reference, after the reduction. Compares
 * out[n] with the reference. */
void aps_sample_compare(const struct aps_sample *sample,
                        const struct aps_memory *memory, const void *out,
                        size_t n, struct aps_measure *measure);

/* Local. Adds the exponents of x[n] to the histogram. */
void aps_sample_exponents(const struct aps_sample *sample,
                          const struct aps_memory *memory, const void *x,
                          size_t n, struct aps_binades *binades);

#endif
