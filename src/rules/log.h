/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The section `log` of a policy: which file, and how often.
 */
#ifndef APS_RULES_LOG_H
#define APS_RULES_LOG_H

#include "policy/policy.h"
#include "yaml/value.h"

/* FILE, or {file: FILE, every: N}. `key` may be NULL: no log. Errors are
 * reported; the caller frees log->file. */
void aps_policy_log_read(const struct aps_reader *reader,
                         const struct aps_yaml_node *key,
                         struct aps_policy_log *log);

#endif
