/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Candidates (`shadow`), for `apsmpi explain`: the bytes that each would send,
 * and the memory that measuring them takes.
 */
#ifndef APS_EXPLAIN_SHADOWS_H
#define APS_EXPLAIN_SHADOWS_H

#include "base/json.h"
#include "cli/schedule.h"
#include "policy/policy.h"

/* Prints a table of all candidates and a note, or nothing without candidates.
 * `schedule` tells the layers that they are for; NULL without a layer table. */
void aps_shadows_print(const struct aps_policy *policy,
                       const struct aps_schedule *schedule);

/* Writes the member `shadow`, null without candidates; `write_plan` writes the
 * members of a plan. */
void aps_shadows_write(struct aps_json *json, const struct aps_policy *policy,
                       const struct aps_schedule *schedule,
                       void (*write_plan)(void *data,
                                          const struct aps_plan *plan),
                       void *data);

#endif
