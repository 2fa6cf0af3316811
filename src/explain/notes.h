/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes of `apsmpi explain` after its tables: rules for calls other than all-reduces,
 * scales with a state, and nonblocking all-reduces.
 */
#ifndef APS_EXPLAIN_NOTES_H
#define APS_EXPLAIN_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/schedule.h"
#include "policy/policy.h"

/* An empty line, a table of these rules, and a paragraph for each kind of call
 * that says what travels; or nothing where there is no such rule. */
void aps_others_print(const struct aps_policy *policy, FILE *stream);

/* An empty line and a paragraph for each rule i with shown[i] whose scale keeps
 * a state. */
void aps_scales_notes(const struct aps_policy *policy, const bool *shown,
                      FILE *stream);

/*
 * The groups in which the layers of a step go together under `fuse`, in the
 * span-th span of the schedule: where the program sums every layer by a call of
 * its own, in the policy's order. Layers that are left to MPI are in none.
 */
size_t aps_nonblocking_groups(const struct aps_policy *policy,
                              const struct aps_schedule *schedule, size_t span);

/* A paragraph each for `progress` and `fuse` where they are not the default. */
void aps_nonblocking_notes(const struct aps_policy *policy, FILE *stream);

#endif
