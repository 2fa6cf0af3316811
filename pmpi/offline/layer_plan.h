/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of a layer, as aps_policy.h hands it out. */
#ifndef APS_PMPI_OFFLINE_LAYER_PLAN_H
#define APS_PMPI_OFFLINE_LAYER_PLAN_H

#include "aps_policy.h"
#include "policy/policy.h"

struct aps_layer_plan {
    struct aps_plan_key key;
    struct aps_plan plan;
};

/* Finds the plan of the layer that `request` describes, for the function `who`
 * and `ranks` ranks; 0: those of the request. Returns 0, or -1 with errno. */
int aps_layer_plan_find(const char *who, const struct aps_policy *policy,
                        const struct aps_layer_request *request, int ranks,
                        struct aps_layer_plan *found, struct aps_error *error);

/* Checks that a plan is not NULL and reduces its layer, in one format. */
int aps_layer_plan_check(const char *who, const struct aps_layer_plan *plan,
                         struct aps_error *error);

#endif
