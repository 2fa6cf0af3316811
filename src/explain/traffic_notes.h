/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes about what the reductions of a policy send, for `apsmpi explain`.
 */
#ifndef APS_EXPLAIN_TRAFFIC_NOTES_H
#define APS_EXPLAIN_TRAFFIC_NOTES_H

#include <stdbool.h>

#include "policy/policy.h"

/*
 * Prints what the table does not show of the rules i with shown[i], the formats
 * in which their reductions send: an empty line and a paragraph for each such
 * kind of plan.
 */
void aps_traffic_notes(const struct aps_policy *policy, const bool *shown);

#endif
