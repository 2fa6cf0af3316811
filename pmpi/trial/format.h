/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats that are chosen while the program runs (format: {auto: ...}). On a
 * layer's first call, and later at regular numbers of calls, each format
 * reduces the same inputs. From that call on the layer has the cheapest format
 * that meets the target.
 */
#ifndef APS_PMPI_TRIAL_FORMAT_H
#define APS_PMPI_TRIAL_FORMAT_H

#include <stdbool.h>

#include "comm/communicator.h"
#include "layer/layer.h"

/* Local, the same on all ranks, in the order in which calls are carried out.
 * True if a layer with such a plan is due to be measured. */
bool aps_auto_format_is_due(const struct aps_context *context,
                            const struct aps_layer *layer);

/* COLLECTIVE over the context's communicator, which has resources, just before
 * a call of `function` is carried out. Measures a layer that is due, and
 * decides on its format. */
void aps_auto_format_run(struct aps_context *context, const char *function,
                         const struct aps_layer *layer);

#endif
