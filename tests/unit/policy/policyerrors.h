/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of texts and errors, for the tests of refused policies.
 */
#ifndef APS_TESTS_UNIT_POLICY_POLICYERRORS_H
#define APS_TESTS_UNIT_POLICY_POLICYERRORS_H

#include "tests/unit/policy/policytext.h"

struct bad {
    const char *what;
    const char *text;
    const char *errors;
};

static inline void refuse(const struct bad *cases, size_t count,
                          const char *table)
{
    for (size_t i = 0; i < count; i++) {
        struct aps_policy *policy = NULL;

        ok(parse_bytes(cases[i].text, strlen(cases[i].text), table, &policy) <
                   0 &&
               !policy,
           "%s: refused", cases[i].what);
        is(all_errors(), cases[i].errors, "... with its place and cause");
        aps_policy_destroy(policy);
    }
}
#define REFUSE(cases, table)                                                   \
    refuse(cases, sizeof(cases) / sizeof(cases)[0], table)

#endif
