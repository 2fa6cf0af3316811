/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats that are chosen while the program runs (format: {auto: ...}). On a
 * layer's first call, and later at regular numbers of calls, each format
 * reduces the same inputs. From that call on the layer has the cheapest format
 * that meets the target.
 */
#ifndef APS_PMPI_TRIAL_FORMAT_H
#define APS_PMPI_TRIAL_FORMAT_H

#include "trial/trial_ops.h"

/* Local, the same on all ranks, in the order in which calls are carried out.
 * Returns the present format of a layer whose plan says `format: auto`, as an
 * index among the formats of its rule; -1: FP32. */
int aps_format_chosen(const struct aps_context *context,
                      const struct aps_layer *layer);

/* Local. Drops all records. */
void aps_formats_clear(struct aps_formats *formats);

#endif
