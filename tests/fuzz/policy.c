/* SPDX-License-Identifier: BSD-3-Clause */
/* The input is a policy; a layer table may follow after a NUL. */
#include "config.h"

#include <string.h>

#include "fuzz/fuzz.h"
#include "policy/policy.h"

static void resolve(const struct aps_policy *policy)
{
    for (int call = 0; call < APS_CALL_KINDS; call++) {
        for (long layer = -1; layer < 20; layer++) {
            const struct aps_plan_key key = {
                .call = (enum aps_call_kind)call,
                .layer = layer,
                .count = (size_t)1 << (layer + 1),
                .epoch = layer,
                .step = 2 * layer,
            };
            struct aps_plan plan;

            aps_policy_resolve(policy, &key, &plan);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct aps_errors errors;
    const uint8_t *nul = memchr(data, '\0', size);
    const size_t length = nul ? (size_t)(nul - data) : size;
    struct aps_policy_source source = {
        .path = (char[]){"policy"},
        .text = (char *)data,
        .length = length,
        .layers_path = (char[]){"table"},
        .layers_text = (char *)data + length + (nul ? 1 : 0),
        .layers_length = nul ? size - length - 1 : 0,
    };
    struct aps_policy *policy = NULL;

    errors.count = errors.warning_count = 0;
    if (aps_policy_parse(&source, &policy, &errors) == 0) {
        resolve(policy);
        aps_policy_destroy(policy);
    } else {
        fuzz_require(errors.count > 0, "a policy is refused without a cause");
    }
    return 0;
}
