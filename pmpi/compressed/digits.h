/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TernGrad's digits of the layers of a call: functions that its reductions
 * share. The ranks agree on the scalers of all layers in one message. The
 * random bits of an element depend on its index in the layer, so that digits do
 * not depend on the slices.
 */
#ifndef APS_PMPI_COMPRESSED_DIGITS_H
#define APS_PMPI_COMPRESSED_DIGITS_H

#include <stdint.h>

#include "compress/ternary.h"
#include "compressed/compressed.h"

/* Elements summed at a time, a multiple of a group. */
#define APS_DIGITS_BLOCK (10 * APS_TERNARY_GROUP)

/* A layer during the exchange of its digits. */
struct aps_digits {
    struct aps_compressed *layer;
    struct aps_ternary_scale scale; /* scale of this rank */
    float scaler;                   /* scaler of all ranks */
};

struct aps_digits_run {
    const struct aps_compressed_env *site;
    int ranks, rank;
    int owners; /* ranks that sum a slice each; 0: each rank sums all elements */
    enum aps_cpu cpu;
    int count;
    struct aps_digits layers[APS_VECTORS_MAX];
    struct aps_cost *cost;
};

/* Returns slice i of `parts` of n elements. A slice has whole groups, except
 * the last slice that is not empty; a slice with i >= parts is empty. */
struct aps_slice aps_digits_slice(size_t n, int parts, int i);

/* Returns the slice of layer i that `owner` sums. */
struct aps_slice aps_digits_slice_of(const struct aps_digits_run *run, int i,
                                     int owner);

/* Returns the bytes of a rank's digits for an owner, of all layers. `state` is the
 * run. */
size_t aps_digits_bytes(const void *state, int owner);

/* Local. Computes the scales of a call's layers on this rank, and with feedback
 * their deltas. */
void aps_digits_begin(struct aps_digits_run *run,
                      const struct aps_compressed_env *site, int owners,
                      int count, struct aps_compressed layers[],
                      struct aps_cost *cost);

/*
 * COLLECTIVE over the site's communicator. Finds the greatest scaler of all
 * ranks: magnitudes have the order of their bits, and INF is above all others.
 * A layer also falls back to FP32 if sums of the ranks' digits might overflow.
 * After an error, which the outcome of the exchanges keeps, this rank sends
 * empty messages.
 */
void aps_digits_agree(struct aps_digits_run *run);

/* Encodes the digits for an owner, once; with feedback, `delta` becomes their
 * residual. `state` is the run. */
void aps_digits_encode(const void *state, int owner, unsigned char *digits);

/* Computes sum[n] of the digits of `ranks` ranks for n elements, at most
 * APS_DIGITS_BLOCK, from element `at` of a slice on. Digits of rank i begin at
 * from + i * stride. */
void aps_digits_sum(const struct aps_digits_run *run, int ranks,
                    const uint8_t *from, size_t stride, size_t at, size_t n,
                    int16_t *sum);

/* Packs the sums of `part` of a slice, with room for the digits of `most` ranks. */
void aps_digits_pack_sums(const struct aps_digits_run *run, int ranks,
                          const uint8_t *from, size_t stride,
                          const struct aps_slice *part, int most,
                          uint8_t *sums);

#endif
