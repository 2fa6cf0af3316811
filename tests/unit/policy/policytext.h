/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts to begin with, and a parser for a text with a layer table that is not a
 * file, for the tests of the policy language.
 */
#ifndef APS_TESTS_UNIT_POLICY_POLICYTEXT_H
#define APS_TESTS_UNIT_POLICY_POLICYTEXT_H

#include <string.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/common/errortext.h"

#define TABLE                                                                  \
    "layer,name,count\n"                                                       \
    "0,conv1.weight,9408\n"                                                    \
    "1,bn1.weight,64\n"                                                        \
    "2,conv2.weight,4096\n"                                                    \
    "3,conv2.bias,2048\n"                                                      \
    "4,fc.weight,20480\n"

static struct aps_errors errors;

/* Returns all errors, one a line, without the policy's name: "2:5: cause". */
static inline const char *all_errors(void)
{
    return error_lines(errors.list, aps_errors_kept(&errors), aps_error_format,
                       "p.yaml:");
}

/* Returns all warnings, in the form of all_errors. */
static inline const char *all_warnings(void)
{
    return error_lines(errors.warnings, aps_warnings_kept(&errors),
                       aps_warning_format, "p.yaml:");
}

static inline int parse_bytes(const char *text, size_t length,
                              const char *table, struct aps_policy **policy)
{
    char path[] = "p.yaml", layers_path[] = "t.csv";
    struct aps_policy_source source = {
        .path = path,
        .text = (char *)text,
        .length = length,
        .layers_path = table ? layers_path : NULL,
        .layers_text = (char *)table,
        .layers_length = table ? strlen(table) : 0,
    };

    errors.count = errors.warning_count = 0;
    return aps_policy_parse(&source, policy, &errors);
}

/* Returns the policy of a text, or NULL after printing its errors. */
static inline struct aps_policy *parse(const char *text, const char *table)
{
    struct aps_policy *policy = NULL;

    if (parse_bytes(text, strlen(text), table, &policy) < 0)
        diag("%s", all_errors());
    return policy;
}

static inline void resolve(const struct aps_policy *policy, long layer,
                           long layers, size_t count, long epoch, long step,
                           struct aps_plan *plan)
{
    struct aps_plan_key place = {.layer = layer,
                                 .layers = layers,
                                 .count = count,
                                 .epoch = epoch,
                                 .step = step};

    aps_policy_resolve(policy, &place, plan);
}

static inline int rule_at(const struct aps_policy *policy, long layer,
                          long layers, size_t count, long epoch, long step)
{
    struct aps_plan plan;

    resolve(policy, layer, layers, count, epoch, step, &plan);
    return plan.rule;
}

/* One rule, its first key in line 3, column 5. */
#define TOP "version: 1\nrules:\n"
#define RULE TOP "  - "
/* One rule after steps with an epoch, its first key in line 4. */
#define EPOCH_RULE "version: 1\nsteps: {per_epoch: 10}\nrules:\n  - "
/* One rule, with the table. */
#define NAMED_RULE "version: 1\ntable: t.csv\nrules:\n  - "

#endif
