/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats that are chosen while the program runs: a rule's
 *
 *     format: {auto: [e3m2, e4m3, e5m2], target: snr 20dB, every: 500, margin: 3dB}
 *
 * The rule's other settings apply to each of the formats; its scale applies to
 * those without scales of their own.
 */
#ifndef APS_RULES_AUTO_FORMAT_H
#define APS_RULES_AUTO_FORMAT_H

#include "rules/rule_keys.h"

/* Reads the settings of such a rule into its plan and its formats, after its
 * conditions. Reports errors. */
void aps_auto_format_read(const struct aps_rule_keys *keys,
                          struct aps_rule *rule);

#endif
