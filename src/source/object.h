/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Content of a struct aps_policy, for the parser that fills it (parse.c), the
 * accessors (policy.c) and the resolver (resolve.c) only.
 */
#ifndef APS_SOURCE_OBJECT_H
#define APS_SOURCE_OBJECT_H

#include "policy/policy.h"
#include "rules/rule.h"

struct aps_policy {
    struct aps_policy_steps steps;
    struct aps_policy_log log; /* log.file is owned */
    size_t min_count;
    enum aps_progress_kind progress;
    size_t fuse;                  /* bytes, 0: off */
    int threads;                  /* or APS_THREADS_AUTO */
    struct aps_layers *layers;    /* or NULL */
    struct aps_policy_gemm *gemm; /* NULL: no section */
    bool pcontrol;
    bool probes;
    bool measures;  /* a rule has reduce: auto */
    unsigned types; /* types of all rules; 0: there is no rule */
    double budget;
    size_t rule_count;
    /* [rule_count + 1]; the last one is for calls that no rule matches, and
     * only its shadow has a meaning. NULL without rules and shadow. */
    struct aps_rule *rules;
};

#endif
