/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rule of a policy: conditions, and the plan where they all hold.
 */
#ifndef APS_RULES_RULE_H
#define APS_RULES_RULE_H

#include "rules/rule_keys.h"

/*
 * Read a rule from its node. `rule` starts as {0}; index is its place in the
 * list. 0 or -1 with errors reported; aps_rule_clear is due in either case.
 */
int aps_rule_read(const struct aps_reader *reader,
                  const struct aps_rule_context *context,
                  const struct aps_yaml_node *node, int index,
                  struct aps_rule *rule);
void aps_rule_clear(struct aps_rule *rule);

bool aps_rule_matches(const struct aps_rule *rule,
                      const struct aps_plan_key *place);

/* Of the calls that it is for, as bits too: those that it always matches if
 * they have at least min_count elements. */
unsigned aps_rule_matches_all(const struct aps_rule *rule, size_t min_count);

#endif
