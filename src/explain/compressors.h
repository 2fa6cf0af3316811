/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compressors, for `apsmpi explain`: what travels in place of layers, and which
 * layers travel uncompressed.
 */
#ifndef APS_EXPLAIN_COMPRESSORS_H
#define APS_EXPLAIN_COMPRESSORS_H

#include <stdio.h>

#include "cli/schedule.h"
#include "policy/policy.h"
#include "text/ranges.h"

/* An empty line and a paragraph for each rule i with shown[i] that has a
 * compressor, or feedback; `schedule` and its `window` are NULL without a layer
 * table. */
void aps_compressors_notes(const struct aps_policy *policy,
                           const struct aps_schedule *schedule,
                           const struct aps_range *window, const bool *shown,
                           FILE *stream);

#endif
