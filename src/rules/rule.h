/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rule of a policy: conditions, and the plan of calls that meet them all.
 */
#ifndef APS_RULES_RULE_H
#define APS_RULES_RULE_H

#include "rules/rule_keys.h"

/*
 * Reads a rule from its node. `rule` is {0} before; `index` is its place in the
 * list. Returns 0, or -1 after errors were reported; the caller calls
 * aps_rule_clear in both cases.
 */
int aps_rule_read(const struct aps_reader *reader,
                  const struct aps_rule_context *context,
                  const struct aps_yaml_node *node, int index,
                  struct aps_rule *rule);
void aps_rule_clear(struct aps_rule *rule);

bool aps_rule_matches(const struct aps_rule *rule,
                      const struct aps_plan_key *place);

/* Returns the kinds of calls, as bits, that the rule is for and always matches
 * if they have at least min_count elements. */
unsigned aps_rule_matches_all(const struct aps_rule *rule, size_t min_count);

/* Counts the items of a list of rules, the value of `key`. Returns 0, or -1 after an
 * error: there are more than APS_RULES_MAX. */
#define APS_RULES_MAX 10000
int aps_rule_count(const struct aps_reader *reader,
                   const struct aps_yaml_node *key, size_t *count);

/* Reads a set of whole numbers, such as 0-4, 9, 12-; reports errors. */
void aps_rule_read_ranges(const struct aps_reader *reader,
                          const struct aps_yaml_node *key,
                          struct aps_ranges *ranges);

#endif
