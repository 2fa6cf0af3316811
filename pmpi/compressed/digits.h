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
    enum aps_cpu cpu;
    int count;
    struct aps_digits layers[APS_VECTORS_MAX];
    struct aps_cost *cost;
};

/* Returns slice i of `parts` of n elements. A slice has whole groups, except
 * the last slice that is not empty; a slice with i >= parts is empty. */
struct aps_slice aps_digits_slice(size_t n, int parts, int i);

/* Local. Computes the scales of a call's layers on this rank, and with feedback
 * their deltas. */
void aps_digits_begin(struct aps_digits_run *run,
                      const struct aps_compressed_env *site, int count,
                      struct aps_compressed layers[], struct aps_cost *cost);

/*
 * COLLECTIVE over the site's communicator. Finds the greatest scaler of all
 * ranks: magnitudes have the order of their bits, and INF is above all others.
 * A layer also falls back to FP32 if sums of the ranks' digits might overflow.
 * After an error, which the outcome of the exchanges keeps, this rank sends
 * empty messages.
 */
void aps_digits_agree(struct aps_digits_run *run);

/* Encodes the digits of a slice, once; with feedback, `delta` becomes their
 * residual. */
void aps_digits_encode(const struct aps_digits_run *run,
                       const struct aps_digits *of,
                       const struct aps_slice *slice, uint8_t *digits);

/* Computes sum[n] of the digits of `ranks` ranks for n elements, at most
 * APS_DIGITS_BLOCK, from element `at` of a slice on. Digits of rank i begin at
 * from + i * stride. */
void aps_digits_sum(const struct aps_digits_run *run, int ranks,
                    const uint8_t *from, size_t stride, size_t at, size_t n,
                    int16_t *sum);

#endif
