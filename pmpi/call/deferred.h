/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A nonblocking all-reduce in its queue.
 */
#ifndef APS_PMPI_CALL_DEFERRED_H
#define APS_PMPI_CALL_DEFERRED_H

#include <stdbool.h>

#include "call/call.h"
#include "comm/context.h"
#include "progress/request.h"
#include "call/segment.h"
#include "steps/steps.h"

struct aps_deferred {
    struct aps_operation operation;
    struct aps_context *context;
    struct aps_call call;
    struct aps_request *request;

    /* Below: when it has been looked at (fuse.c). */
    bool placed;
    bool passes;
    enum aps_reason reason;            /* if it passes */
    struct aps_step_position position; /* if not */
    bool fusable;               /* one layer, with a plan that can be shared */
    struct aps_segment segment; /* if so */
    float max;                  /* its greatest finite magnitude */
};

/* It has been carried out, with this MPI error code: complete its request. It
 * is gone then. */
void aps_deferred_complete(struct aps_deferred *deferred, int rc);

/* Does this operation carry out a struct aps_deferred, its owner? */
bool aps_deferred_is(const struct aps_operation *operation);

#endif
