/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes of `apsmpi explain` after its tables: on rules for calls other than
 * all-reduces, on scales with a state, and on nonblocking all-reduces.
 */
#ifndef APS_EXPLAIN_NOTES_H
#define APS_EXPLAIN_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/schedule.h"
#include "policy/policy.h"

/* Prints an empty line, a table of the rules for calls other than all-reduces,
 * and a paragraph on the data of each kind of call; or nothing without such a
 * rule. */
void aps_others_print(const struct aps_policy *policy);

/* Prints an empty line and a paragraph for each rule i with shown[i] whose
 * scale has a state. */
void aps_scales_notes(const struct aps_policy *policy, const bool *shown);

/*
 * Returns the number of batches that `fuse` makes of a step's layers in the
 * span-th span of the schedule, if the program reduces each layer by one call,
 * in the policy's order. Layers that go to MPI are in no batch.
 */
size_t aps_nonblocking_groups(const struct aps_policy *policy,
                              const struct aps_schedule *schedule, size_t span);

/* Prints a paragraph for `progress` and one for `fuse`, unless they are
 * defaults. */
void aps_nonblocking_notes(const struct aps_policy *policy);

/* Prints a paragraph for `threads`, unless it is 1. */
void aps_threads_note(const struct aps_policy *policy);

#endif
