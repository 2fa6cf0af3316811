/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses one of several formats for a layer (format: {auto: ...}) from their
 * bytes and errors on the same inputs.
 */
#ifndef APS_POLICY_CHOICE_H
#define APS_POLICY_CHOICE_H

#include <stdbool.h>

#include "policy/policy.h"

/* Measurement of one format on one layer. */
struct aps_trial {
    bool measured; /* false: the format cannot run in this place */
    double error;  /* in the target's measure: relative error in the Euclidean
                      norm, or mean relative error */
    unsigned long long bytes;      /* sent for the layer */
    unsigned long long fp32_bytes; /* that FP32 would have sent */
};

/*
 * Returns the format of a layer that has had format `chosen` until now, by the
 * measurements trials[formats->formats.count]; -1 means FP32.
 *
 * A format can be chosen if its error meets the target with the margin. The
 * chosen format stays as long as its error meets the target with half of the
 * margin, in dB, because the steps before the next measurement differ. Among
 * the formats that can be chosen, the one with fewest bytes wins; then the one
 * with the least error; then the first of the list. FP32 wins if no format
 * sends less.
 */
int aps_auto_format_choose(const struct aps_auto_format *formats, int chosen,
                           const struct aps_trial trials[]);

/* History of a layer's decisions; {0} at first. */
struct aps_auto_past {
    int rises; /* changes to more bytes since the history was last reset */
    int cheap; /* consecutive measurements in which a cheaper format met the
                  target */
    int calm;  /* measurements since the last change */
};

/*
 * Returns the format that the layer gets, after aps_auto_format_choose has
 * returned `choice`; `chosen` is the format until now (-1: FP32). Updates
 * *past.
 *
 * A format with more bytes is taken at once, and any format is if the error of
 * `chosen` misses the target. A format with fewer bytes is taken at once until
 * the layer has had two rises; after that it must win in 2, 4, 8 and at most 16
 * consecutive measurements, so that noise does not change the format at each of
 * them. After 64 measurements without a change the history is reset.
 */
int aps_auto_format_settle(const struct aps_auto_format *formats,
                           struct aps_auto_past *past, int chosen, int choice,
                           const struct aps_trial trials[]);

#endif
