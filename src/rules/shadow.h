/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Candidates: the key `shadow` of a rule or at the top of a policy is a list of
 *
 *     FORMAT                  as in e5m2
 *     FORMAT:SCALE            as in e4m3:aps
 *     {format: FORMAT, ...}   with the settings of a rule
 *
 * or of the first two in one text, "e5m2, e4m3:aps" or "e5m2 e4m3:aps". The
 * rule's reduction and rounding apply to candidates that have none.
 */
#ifndef APS_RULES_SHADOW_H
#define APS_RULES_SHADOW_H

#include "rules/rule_keys.h"

/*
 * Reads the candidates at the top of the policy into those of `rest`, the rule
 * for calls that no rule matches, and sets context->shadow.read to them.
 * Reports errors. Call it before the rules are read.
 */
void aps_shadow_read_top(struct aps_rule_context *context,
                         const struct aps_yaml_node *root,
                         struct aps_rule *rest);

/*
 * Sets the candidates of a rule whose settings have been read, if it has any:
 * its own plan if it rewrites, and those of its key `shadow`, or of the policy.
 * The rule's calls then go to MPI. `good`: the rule has no errors.
 */
void aps_shadow_settle(const struct aps_rule_keys *keys, bool good,
                       struct aps_rule *rule);

/* Reads the share of the time: "5%". */
void aps_shadow_read_budget(const struct aps_reader *reader,
                            const struct aps_yaml_node *key, double *budget);

#endif
