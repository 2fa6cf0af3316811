/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compressors, for `apsmpi explain`: the data that replace layers, and the
 * layers that are not compressed.
 */
#ifndef APS_EXPLAIN_COMPRESSORS_H
#define APS_EXPLAIN_COMPRESSORS_H

#include "cli/schedule.h"
#include "policy/policy.h"
#include "text/ranges.h"

/* Prints an empty line and a paragraph for each rule i with shown[i] that has a
 * compressor or feedback. `schedule` and its `window` are NULL without a layer
 * table. */
void aps_compressors_notes(const struct aps_policy *policy,
                           const struct aps_schedule *schedule,
                           const struct aps_range *window, const bool *shown);

#endif
