/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rules/wide_formats.h"

void aps_wide_formats_settle(const struct aps_rule_keys *rule,
                             const struct aps_yaml_node *node,
                             struct aps_plan *plan)
{
    const bool scaled = plan->scale.kind != APS_SCALE_NONE;
    const struct {
        const struct aps_yaml_node *key;
        bool wrong;
        const char *name;
    } settings[] = {
        {rule->keys[APS_RULE_SCALE], scaled, "a scale"},
        {rule->keys[APS_RULE_APS], scaled, "a scale"},
        {node, plan->node == APS_NODE_FP32, "node: fp32"},
        {rule->keys[APS_RULE_ACCUMULATE],
         plan->accumulate != APS_ACCUMULATE_FP32, "'accumulate'"},
        {rule->keys[APS_RULE_ROUNDING], plan->rounding != APS_ROUND_NEAREST,
         "random rounding"},
        {rule->keys[APS_RULE_COMPRESS],
         plan->compressor.kind != APS_COMPRESSOR_NONE, "'compress'"},
        {rule->keys[APS_RULE_FEEDBACK], plan->feedback, "'feedback'"},
    };

    if (!plan->rewrite || !plan->format.wide)
        return;
    plan->scale = (struct aps_scale){.kind = APS_SCALE_NONE};
    if (rule->rule->types == 0)
        return; /* after an error */
    if (rule->rule->types != 1u << APS_ELEMENT_DOUBLE) {
        aps_reader_error(rule->reader, rule->keys[APS_RULE_FORMAT]->value,
                         "format %s is wider than FP32: its rule must be for "
                         "doubles alone (types: double)",
                         plan->format.name);
        return;
    }
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (settings[i].key && settings[i].wrong)
            aps_reader_error(rule->reader, settings[i].key,
                             "%s cannot be combined with format %s, which is "
                             "wider than FP32; leave it out",
                             settings[i].name, plan->format.name);
    }
}
