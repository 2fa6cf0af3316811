/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compressor of a rule: the keys `compress` and `feedback`, and their
 * conditions on the rule's other keys.
 */
#ifndef APS_RULES_COMPRESSORS_H
#define APS_RULES_COMPRESSORS_H

#include "rules/rule_keys.h"

/* Reads both keys. Returns 0, or -1 after errors were reported. */
int aps_compressors_read(const struct aps_rule_keys *rule,
                         struct aps_plan *plan);

/* Sets the reduction of compressors that have one of their own, after the other
 * settings, and reports contradictions. `node`: the rule's `node`, or NULL. */
void aps_compressors_settle(const struct aps_rule_keys *rule,
                            const struct aps_yaml_node *node,
                            struct aps_plan *plan);

#endif
