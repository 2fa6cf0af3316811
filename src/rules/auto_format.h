/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats that are chosen while the program runs: a rule's
 *
 *     format: {auto: [e3m2, e4m3, e5m2], target: snr 20dB, every: 500, margin: 3dB}
 *
 * What the rule says beside it holds of each of the formats, its scale of those that
 * do not scale blocks by themselves.
 */
#ifndef APS_RULES_AUTO_FORMAT_H
#define APS_RULES_AUTO_FORMAT_H

#include "rules/rule_keys.h"

/* Read the settings of such a rule, whose conditions have been read, into its plan
 * and its formats. Errors are reported. */
void aps_auto_format_read(const struct aps_rule_keys *keys,
                          struct aps_rule *rule);

#endif
