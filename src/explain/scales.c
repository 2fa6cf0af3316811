/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "explain/scales.h"

#include "cli/command.h"
#include "scale/explain.h"

void aps_scales_notes(const struct aps_policy *policy, const bool *shown,
                      FILE *stream)
{
    const bool layers = aps_policy_steps(policy)->kind != APS_STEPS_NONE;

    for (int i = 0; i < (int)aps_policy_rules(policy); i++) {
        const struct aps_plan *plan = aps_policy_rule_plan(policy, i);
        char rule[APS_COMMAND_RULE_MAX], text[APS_SCALE_TEXT_MAX];
        char note[APS_COMMAND_RULE_MAX + APS_SCALE_TEXT_MAX + 32];

        if (!shown[i] || !plan->rewrite)
            continue;
        aps_scale_explain(&plan->scale, &plan->format, layers, text,
                          sizeof text);
        if (text[0] == '\0')
            continue;
        snprintf(note, sizeof note, "scale %s (line %s): %s",
                 aps_scale_name(&plan->scale),
                 aps_command_rule(policy, i, rule), text);
        aps_command_note(note, stream);
    }
}
