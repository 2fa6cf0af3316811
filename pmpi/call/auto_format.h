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
#include "comm/context.h"
#include "steps/steps.h"

/* Local, in the order in which calls are carried out. True if it is the turn of a layer
 * with such a plan to be measured. The same on all ranks. */
bool aps_auto_format_is_due(const struct aps_context *context,
                            const struct aps_layer *layer);

/* COLLECTIVE over the context's communicator, when a call is about to be carried out,
 * with all its inputs: measures the layers whose turn it is, and gives each layer with
 * such a plan the format that it has now. */
void aps_auto_format_call(struct aps_call *call);

#endif
