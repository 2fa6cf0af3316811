/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces a layer's inputs by several plans, one after the other, in addition
 * to the program's own call, and measures the error of each against FP32.
 */
#ifndef APS_PMPI_TRIAL_TRIAL_H
#define APS_PMPI_TRIAL_TRIAL_H

#include <stdbool.h>

#include "trial/candidates.h"
#include "layer/layer.h"

/* Measurement of one candidate, on rank 0. */
struct aps_candidate_result {
    bool measured; /* false if the candidate cannot run here, or failed */
    struct aps_measure measure;
    unsigned long long wire_bytes, fp32_bytes;
};

/* A layer whose candidates are measured. */
struct aps_subject {
    struct aps_context *context;
    struct aps_candidates *candidates; /* state of the candidates */
    const struct aps_shadow *plans;
    const char *what;       /* prefix of messages: "shadow" */
    const char *function;   /* function that the program called */
    struct aps_layer layer; /* the layer, with its inputs in host memory */
    int ready;              /* on rank 0: 1 if the reference was computed */
    /* output */
    struct aps_candidate_result results[APS_CANDIDATES_MAX];
};

/* Local. Makes the state for measurements of layers with such a plan, unless
 * the context has it. False if memory is missing. */
bool aps_trials_make(struct aps_context *context, const struct aps_plan *plan);

/* COLLECTIVE over the context's communicator. The context has resources, the
 * candidates are equipped for the layer, and the environment of base/fpenv.h is
 * in force. Reduces by all candidates. Rank 0 writes a row of the log for each.
 * After an MPI error context->failed is set. */
void aps_candidates_measure(struct aps_subject *subject);

/* Local. Returns a copy of the layer's inputs in host memory, which the caller
 * frees, or NULL if memory is missing or the copy failed. */
float *aps_layer_copy(const struct aps_layer *layer);

#endif
