/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer's inputs, reduced by several plans, one after the other, beside what the
 * program gets: what each of them loses against FP32.
 */
#ifndef APS_PMPI_CALL_CANDIDATES_H
#define APS_PMPI_CALL_CANDIDATES_H

#include <stdbool.h>

#include "call/call.h"
#include "call/plan.h"
#include "comm/candidates.h"
#include "comm/context.h"

/* What was measured of one of them, on rank 0. */
struct aps_candidate_result {
    bool measured; /* otherwise it cannot run here, or failed */
    struct aps_measure measure;
    unsigned long long wire_bytes, fp32_bytes;
};

/* A layer to be measured. */
struct aps_subject {
    struct aps_context *context;
    struct aps_candidates *candidates; /* what they keep */
    const struct aps_shadow *plans;
    const char *what;       /* for messages: "shadow" */
    const char *function;   /* that the program called */
    struct aps_layer layer; /* its inputs in the host's memory */
    int ready;              /* on rank 0: the reference is there */
    struct aps_candidate_result results[APS_CANDIDATES_MAX]; /* are written */
};

/*
 * COLLECTIVE over the context's communicator, which has resources, and where the
 * candidates are equipped for the layer, in the environment of base/fpenv.h. Reduces by
 * all of them. Rank 0 writes a row of the log for each. After an MPI error
 * context->failed is set.
 */
void aps_candidates_measure(struct aps_subject *subject);

/* Local. A copy of the layer's inputs, in the host's memory, which the caller frees;
 * NULL: none. */
float *aps_layer_copy(const struct aps_layer *layer);

#endif
