/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of a ring, which is all of the reduction `ring` and a part of `master`.
 */
#ifndef APS_PREDICT_RING_H
#define APS_PREDICT_RING_H

#include "predict/call.h"

/*
 * Returns the time of a ring of `ranks` ranks, `per_host` on each host, over
 * `window` chunks of `slice` values for each rank: partial sums one way,
 * results back. It is one of many laps, between which the links rest for `rest`
 * seconds, which are part of its time.
 */
struct aps_prediction aps_predict_lap(const struct aps_predicted_call *call,
                                      int ranks, int per_host, double window,
                                      double slice, double rest);

#endif
