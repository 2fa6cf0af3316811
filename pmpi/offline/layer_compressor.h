/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A compressor of aps_policy.h. The rows of a table have the rounds of each
 * kind; the arithmetic is that of src/compress, and the messages of selected
 * elements are those of compressed/elements.h.
 */
#ifndef APS_PMPI_OFFLINE_LAYER_COMPRESSOR_H
#define APS_PMPI_OFFLINE_LAYER_COMPRESSOR_H

#include <stdint.h>

#include "block/block.h"
#include "compress/ternary.h"
#include "offline/layer_plan.h"

/* The messages of a round, in rank order. */
struct aps_round {
    int count;
    const void *const *messages;
    const size_t *bytes;
};

struct aps_compressor_rounds {
    int rounds;
    enum aps_message_kind kinds[2];

    /* Returns the bytes of the scratch, and the most bytes of a message. */
    size_t (*scratch)(const struct aps_layer_compressor *compressor);
    size_t (*bytes)(const struct aps_layer_compressor *compressor);

    /* Encodes the message of the current round and returns its bytes; 0 if some
     * value is not finite. x is NULL after the first round. */
    size_t (*encode)(struct aps_layer_compressor *compressor, const float *x,
                     void *message);

    /* Reads the messages of the round. In the last one y becomes the sum, and
     * compressor->delta the new error memory. Returns 0; -1 if a message is
     * damaged, or its sum is not finite. */
    int (*decode)(struct aps_layer_compressor *compressor,
                  const struct aps_round *round, float *y);
};

struct aps_layer_compressor {
    struct aps_plan plan;
    struct aps_plan_key key;
    struct aps_matrix matrix;
    struct aps_wire wire; /* wire of values */
    const struct aps_compressor_rounds *ops;
    int rank, ranks;
    int round;      /* round in progress, from 0 */
    bool encoded;   /* its message has been encoded */
    uint64_t calls; /* number of earlier calls */
    float *memory;  /* [count]: error memory; NULL without feedback */
    float *delta;   /* [count]: sum of the layer and its error memory */
    void *scratch;
    size_t selected;                /* elements that this rank selected */
    struct aps_ternary_scale scale; /* ternary */
    float scaler;                   /* ternary: the greatest of all ranks */
    bool warm;                      /* powersgd: Q is that of the last call */
};

extern const struct aps_compressor_rounds aps_rounds_selected;
extern const struct aps_compressor_rounds aps_rounds_rounded;
extern const struct aps_compressor_rounds aps_rounds_ternary;
extern const struct aps_compressor_rounds aps_rounds_vote;
extern const struct aps_compressor_rounds aps_rounds_powersgd;

/* Returns the values to compress: the layer, in delta, plus the error memory. */
const float *aps_layer_compressor_add(struct aps_layer_compressor *compressor,
                                      const float *x);

/* Returns the number on which the random bits of the call depend. */
uint64_t
aps_layer_compressor_number(const struct aps_layer_compressor *compressor);

#endif
