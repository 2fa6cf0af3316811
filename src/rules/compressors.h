/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compressor of a rule: the keys `compress` and `feedback`, and what they ask
 * of the rule's other keys.
 */
#ifndef APS_RULES_COMPRESSORS_H
#define APS_RULES_COMPRESSORS_H

#include "rules/rule_keys.h"

/* Read both keys. 0, or -1 with the errors reported. */
int aps_compressors_read(const struct aps_rule_keys *rule,
                         struct aps_plan *plan);

/* When the plan has all the rest: the reduction of compressors that have one of
 * their own, and what contradicts them, which is reported. `node`: what the rule
 * says of it, or NULL. */
void aps_compressors_settle(const struct aps_rule_keys *rule,
                            const struct aps_yaml_node *node,
                            struct aps_plan *plan);

#endif
