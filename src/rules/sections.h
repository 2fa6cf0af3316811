/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections `steps` and `log` of a policy, and its key `threads`.
 */
#ifndef APS_RULES_SECTIONS_H
#define APS_RULES_SECTIONS_H

#include <stdbool.h>

#include "policy/policy.h"
#include "yaml/value.h"

/* Reads auto, none, or {calls: N, per_epoch: N, order: backward}; `order` is
 * the old place of that key, at the top. Both may be NULL. Reports errors. Sets
 * all of *steps but its kind, which depends on the rules. True if the length of
 * an epoch is stated, even wrongly. */
bool aps_policy_steps_read(const struct aps_reader *reader,
                           const struct aps_yaml_node *key,
                           const struct aps_yaml_node *order,
                           struct aps_policy_steps *steps);

/* Warns at `key` of networks of the table that the sizes of their calls, of min_count
 * elements or more, do not tell apart at once. */
void aps_networks_check(const struct aps_reader *reader,
                        const struct aps_yaml_node *key,
                        const struct aps_policy_steps *steps,
                        const struct aps_layers *layers, size_t min_count);

/* Reads FILE, or {file: FILE, every: N}. `key` may be NULL: no log. Reports
 * errors. The caller frees log->file. */
void aps_policy_log_read(const struct aps_reader *reader,
                         const struct aps_yaml_node *key,
                         struct aps_policy_log *log);

/* Reads a number of threads or `auto` (APS_THREADS_AUTO). Reports errors. `key`
 * may be NULL: returns 1. */
int aps_policy_threads_read(const struct aps_reader *reader,
                            const struct aps_yaml_node *key);

#endif
