/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a policy makes of nonblocking all-reduces, for `apsmpi explain`.
 */
#ifndef APS_EXPLAIN_NONBLOCKING_H
#define APS_EXPLAIN_NONBLOCKING_H

#include <stddef.h>
#include <stdio.h>

#include "cli/schedule.h"
#include "policy/policy.h"

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
