/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TernGrad's digits of the layers of a call: what its reductions share. The ranks
 * agree on the scalers of all layers in one message. Random bits of an element are
 * drawn by its number in the layer, so that digits do not depend on the slices.
 */
#ifndef APS_PMPI_COMPRESSED_DIGITS_H
#define APS_PMPI_COMPRESSED_DIGITS_H

#include <stdint.h>

#include "compress/ternary.h"
#include "compressed/compressed.h"

/* Elements that are summed at a time, whole groups. */
#define APS_DIGITS_BLOCK (10 * APS_TERNARY_GROUP)

/* A layer while its digits travel. */
struct aps_digits {
    struct aps_compressed *layer;
    struct aps_ternary_scale scale; /* of this rank */
    float scaler;                   /* of all ranks */
};

struct aps_digits_run {
    const struct aps_compressed_env *site;
    int ranks, rank;
    enum aps_cpu cpu;
    int count;
    struct aps_digits layers[APS_VECTORS_MAX];
    struct aps_cost *cost;
};

/* Slice i of `parts` of n elements: whole groups, except the last slice that is not
 * empty. Of i >= parts it is empty. */
struct aps_slice aps_digits_slice(size_t n, int parts, int i);

/* Local. The scales of a call's layers on this rank; with feedback their deltas. */
void aps_digits_begin(struct aps_digits_run *run,
                      const struct aps_compressed_env *site, int count,
                      struct aps_compressed layers[], struct aps_cost *cost);

/*
 * COLLECTIVE over the site's communicator. The greatest scaler of all ranks:
 * magnitudes are in the order of their bits, and INF is above all others. A layer
 * is whole where sums of the ranks' digits might overflow, too. After an error, which
 * the outcome of the exchanges keeps, this rank sends empty messages.
 */
void aps_digits_agree(struct aps_digits_run *run);

/* The digits of a slice, once; with feedback, `delta` becomes what they leave
 * out. */
void aps_digits_encode(const struct aps_digits_run *run,
                       const struct aps_digits *of,
                       const struct aps_slice *slice, uint8_t *digits);

/* sum[n] of what `ranks` ranks have sent for n elements, at most APS_DIGITS_BLOCK,
 * from element `at` of a slice on: rank i's digits begin at from + i * stride. */
void aps_digits_sum(const struct aps_digits_run *run, int ranks,
                    const uint8_t *from, size_t stride, size_t at, size_t n,
                    int16_t *sum);

#endif
