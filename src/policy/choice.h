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

/* What the measurements of a layer have led to so far; {0} at first. */
struct aps_auto_past {
    int rises; /* changes to more bytes since the layer was last calm */
    int cheap; /* measurements in a row by which a cheaper format would do */
    int calm;  /* measurements since the last change */
};

/*
 * What becomes of a choice (aps_auto_format_choose) for a layer that has had format
 * `chosen` (-1: FP32) by an earlier measurement. More bytes are taken at once, and
 * so is any format where the layer's misses the target. Fewer are at once, too, until
 * the layer has risen twice; then after 2, 4, 8 and at most 16
 * measurements in a row, so that noise does not change it at each of them. A layer that
 * has not changed for 64 measurements begins anew. *past is brought up to date.
 */
int aps_auto_format_settle(const struct aps_auto_format *formats,
                           struct aps_auto_past *past, int chosen, int choice,
                           const struct aps_trial trials[]);

#endif
