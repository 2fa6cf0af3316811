/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Candidates: the key `shadow` of a rule and at the top of a policy, a list of
 *
 *     FORMAT                  as in e5m2
 *     FORMAT:SCALE            as in e4m3:aps
 *     {format: FORMAT, ...}   with the settings of a rule
 *
 * or the first two as one text, "e5m2, e4m3:aps" or "e5m2 e4m3:aps". What a rule
 * says of its reduction and rounding holds of candidates that do not say so
 * themselves.
 */
#ifndef APS_RULES_SHADOW_H
#define APS_RULES_SHADOW_H

#include "rules/rule_keys.h"

/*
 * Read the candidates at the top of the policy into those of `rest`, the rule that
 * stands for what no rule matches: context->shadow.read are these afterwards.
 * Errors are reported. Before the rules.
 */
void aps_shadow_read_top(struct aps_rule_context *context,
                         const struct aps_yaml_node *root,
                         struct aps_rule *rest);

/*
 * The candidates of a rule whose settings have been read, if it has any: its own
 * plan where that rewrites, and those of its key `shadow`, or of the policy. Then
 * its calls are left to MPI. `good`: there were no errors in the rule.
 */
void aps_shadow_settle(const struct aps_rule_keys *keys, bool good,
                       struct aps_rule *rule);

/* The share of the time: "5%". */
void aps_shadow_read_budget(const struct aps_reader *reader,
                            const struct aps_yaml_node *key, double *budget);

#endif
