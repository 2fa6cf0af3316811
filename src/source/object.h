/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a struct aps_policy is: for the parser that fills it (parse.c) and the
 * resolver that reads it (policy.c), nobody else.
 */
#ifndef APS_SOURCE_OBJECT_H
#define APS_SOURCE_OBJECT_H

#include "policy/policy.h"
#include "rules/rule.h"

struct aps_policy {
    struct aps_policy_steps steps;
    struct aps_policy_log log; /* its file is owned */
    size_t min_count;
    enum aps_progress_kind progress;
    size_t fuse;               /* bytes, 0: off */
    struct aps_layers *layers; /* or NULL */
    bool has_gemm;
    struct aps_policy_gemm gemm; /* if has_gemm */
    bool pcontrol;
    double budget;
    size_t rule_count;
    /* [rule_count + 1]; the last stands for what no rule matches: its shadow alone
     * has a meaning. NULL: no rules, no shadow. */
    struct aps_rule *rules;
};

#endif
