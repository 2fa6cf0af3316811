/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call whose time is predicted, and the prediction.
 */
#ifndef APS_PREDICT_CALL_H
#define APS_PREDICT_CALL_H

#include <stddef.h>

#include "policy/policy.h"
#include "predict/machine.h"

/* One all-reduce of `count` values under a plan. */
struct aps_predicted_call {
    const struct aps_machine *machine;
    const struct aps_plan *plan;
    struct aps_codec_rates rates; /* rates of the plan's format */
    size_t count;
    int group;      /* ranks of a group, for hierarchical and master */
    int threads;    /* threads of each rank, which share long passes; 0: 1 */
    double sharing; /* threads whose common speed `rates` has
                     * (aps_predict_shared); 0: 1 */
};

/* Resource that takes most of the time. */
enum aps_bound { APS_BOUND_CORE, APS_BOUND_LINK, APS_BOUND_LATENCY };

struct aps_prediction {
    double seconds;
    enum aps_bound bound;
};

#endif
