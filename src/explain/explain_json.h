/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi explain --json: the rules of a policy, and the plan of each layer over
 * time. apsmpi(1) describes the object.
 */
#ifndef APS_EXPLAIN_EXPLAIN_JSON_H
#define APS_EXPLAIN_EXPLAIN_JSON_H

#include "base/error.h"
#include "cli/arguments.h"
#include "predictions/cluster.h"
#include "cli/schedule.h"
#include "policy/policy.h"
#include "text/ranges.h"

/*
 * Writes the object to standard output. `policy` is NULL if it has errors,
 * `schedule` if the policy has no layer table, `cluster` if no times are
 * predicted; `window` has the indices of the schedule's spans to write.
 */
void aps_explain_json(const struct aps_arguments *arguments, const char *path,
                      const struct aps_policy *policy,
                      const struct aps_schedule *schedule,
                      const struct aps_range *window,
                      struct aps_cluster *cluster,
                      const struct aps_errors *errors);

#endif
