/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of several formats a layer gets (format: {auto: ...}), from what they cost and
 * lose on the same inputs.
 */
#ifndef APS_POLICY_CHOICE_H
#define APS_POLICY_CHOICE_H

#include <stdbool.h>

#include "policy/policy.h"

/* What was measured of a format on a layer. */
struct aps_trial {
    bool measured; /* otherwise it cannot run here */
    double error;  /* the target's: relative in the Euclidean norm, or mean */
    unsigned long long bytes;      /* sent for the layer */
    unsigned long long fp32_bytes; /* had they been FP32 */
};

/*
 * The format of a layer that has had format `chosen` (-1: FP32) so far, by
 * trials[formats->formats.count]; -1: FP32.
 *
 * A format is taken if its error meets the target with the margin, and kept as long as
 * it meets the target with half of the margin, in dB: the steps until the next
 * measurement differ. Of those that may be taken, the one of fewest bytes is, and of
 * those the one of the least error, the first in the list; FP32 where that would not
 * send less.
 */
int aps_auto_format_choose(const struct aps_auto_format *formats, int chosen,
                           const struct aps_trial trials[]);

#endif
