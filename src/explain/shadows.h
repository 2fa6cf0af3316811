/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Candidates (`shadow`) in `apsmpi explain`: what each of them would send, and what
 * measuring them needs.
 */
#ifndef APS_EXPLAIN_SHADOWS_H
#define APS_EXPLAIN_SHADOWS_H

#include <stdio.h>

#include "base/json.h"
#include "cli/schedule.h"
#include "policy/policy.h"

/* A table of all candidates and a note, or nothing where there are none. With a
 * layer table `schedule` says which layers they are for; otherwise NULL. */
void aps_shadows_print(const struct aps_policy *policy,
                       const struct aps_schedule *schedule, FILE *stream);

/* The member `shadow`, null where there are none; `write_plan` writes the members
 * of a plan. */
void aps_shadows_write(struct aps_json *json, const struct aps_policy *policy,
                       const struct aps_schedule *schedule,
                       void (*write_plan)(void *data,
                                          const struct aps_plan *plan),
                       void *data);

#endif
