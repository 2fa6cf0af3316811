/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi explain: its tables as text.
 */
#ifndef APS_EXPLAIN_EXPLAIN_TEXT_H
#define APS_EXPLAIN_EXPLAIN_TEXT_H

#include <stdbool.h>

#include "cli/schedule.h"
#include "policy/policy.h"
#include "text/ranges.h"

/*
 * Prints the effect of the policy in the file `path`. `schedule` is NULL
 * without a layer table; `window` has the indices of the schedule's spans to
 * print. With `each_layer` each layer has a row.
 */
void aps_explain_text(const char *path, const struct aps_policy *policy,
                      const struct aps_schedule *schedule,
                      const struct aps_range *window, bool each_layer);

#endif
