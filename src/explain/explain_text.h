/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi explain: its tables, for people to read.
 */
#ifndef APS_EXPLAIN_EXPLAIN_TEXT_H
#define APS_EXPLAIN_EXPLAIN_TEXT_H

#include <stdbool.h>

#include "cli/schedule.h"
#include "policy/policy.h"
#include "text/ranges.h"

/*
 * Print what the policy of the file `path` does. `schedule` is NULL if it has no
 * layer table; `window` are the indices of the schedule's spans to print. With
 * `each_layer` each layer has a row.
 */
void aps_explain_text(const char *path, const struct aps_policy *policy,
                      const struct aps_schedule *schedule,
                      const struct aps_range *window, bool each_layer);

#endif
