/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats that are chosen while the program runs (format: {auto: ...}): on a layer's
 * first call, and then once in so many steps, each of them reduces the same inputs, and
 * the cheapest that meets the target is the layer's from that call on.
 */
#ifndef APS_PMPI_CALL_AUTO_FORMAT_H
#define APS_PMPI_CALL_AUTO_FORMAT_H

#include <stdbool.h>

#include "call/call.h"
#include "call/segment.h"
#include "comm/context.h"
#include "steps/steps.h"

/* Local, where the calls of the communicator are carried out in their order. Is it the
 * turn of a layer with such a plan to be measured? The same on all ranks. */
bool aps_auto_format_is_due(const struct aps_context *context,
                            const struct aps_segment *segment);

/* COLLECTIVE over the call's communicator. A blocking call is about to be carried out,
 * with all its inputs: measure its layers whose turn it is. */
void aps_auto_format_call(struct aps_context *context,
                          const struct aps_call *call,
                          const struct aps_step_position *position);

/* COLLECTIVE over the context's communicator, which has resources. A layer of a
 * nonblocking call, with its inputs, in its queue: the same, and then it gets its
 * plan. */
void aps_auto_format_run(struct aps_context *context,
                         const struct aps_call *call,
                         struct aps_segment *segment);

#endif
