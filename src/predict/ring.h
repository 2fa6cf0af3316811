/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a ring, which is all of the reduction `ring` and part of `master`.
 */
#ifndef APS_PREDICT_RING_H
#define APS_PREDICT_RING_H

#include "predict/call.h"

/*
 * A ring of `ranks` ranks, of which `per_host` run on each host, over `window`
 * chunks of `slice` values a rank: partial sums there, results back. It is one of
 * many, between which the links rest for `rest` seconds, which are part of its time.
 */
struct aps_prediction aps_predict_lap(const struct aps_predicted_call *call,
                                      int ranks, int per_host, double window,
                                      double slice, double rest);

#endif
