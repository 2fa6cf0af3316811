/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A nonblocking call in its queue: the layers of it that are rewritten,
 * which were placed and planned when the call was made. Those that pass have
 * been started then.
 */
#ifndef APS_PMPI_CALL_DEFERRED_H
#define APS_PMPI_CALL_DEFERRED_H

#include <stdbool.h>

#include "call/call.h"
#include "call/segment.h"
#include "comm/context.h"
#include "queue/request.h"
#include "steps/steps.h"

struct aps_deferred {
    struct aps_operation operation;
    struct aps_context *context;
    struct aps_call call;
    struct aps_step_position position;
    struct aps_request *request;
    bool single;  /* one layer, which is not sampled: it may go with others */
    bool fusable; /* it may now: its formats are not to be measured */
    struct aps_segment segment; /* if so, with its plan */
    int rc;                     /* MPI error code: what has gone wrong so far */
    unsigned long failures; /* aps_context_failures when it was carried out, and
                               those of formats that were measured since */
    int parts;              /* of the call that pass, in MPI's hands */
    MPI_Request requests[]; /* [parts] */
};

/* COLLECTIVE over the context's communicator. One call by itself: its layers are
 * carried out, and its request completes. It is gone then. */
void aps_deferred_run(struct aps_deferred *deferred);

/* It has been carried out, with this MPI error code: complete its request. It
 * is gone then. */
void aps_deferred_complete(struct aps_deferred *deferred, int rc);

/* Does this operation carry out a struct aps_deferred, its owner? */
bool aps_deferred_is(const struct aps_operation *operation);

#endif
