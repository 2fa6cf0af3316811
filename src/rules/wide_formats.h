/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings that a format wider than FP32 cannot be combined with. */
#ifndef APS_RULES_WIDE_FORMATS_H
#define APS_RULES_WIDE_FORMATS_H

#include "rules/rule_keys.h"

/* Reports such settings if the plan's format is wide, and takes the default scale
 * away. `node` is the key `node`, or NULL. */
void aps_wide_formats_settle(const struct aps_rule_keys *rule,
                             const struct aps_yaml_node *node,
                             struct aps_plan *plan);

#endif
