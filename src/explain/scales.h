/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scales with a state, for `apsmpi explain`: what they do at the first call and
 * later.
 */
#ifndef APS_EXPLAIN_SCALES_H
#define APS_EXPLAIN_SCALES_H

#include <stdio.h>

#include "policy/policy.h"

/* An empty line and a paragraph for each rule i with shown[i] whose scale keeps
 * a state. */
void aps_scales_notes(const struct aps_policy *policy, const bool *shown,
                      FILE *stream);

#endif
