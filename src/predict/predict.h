/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of an all-reduce by an alpha-beta model: the messages, chunks and
 * pipelines of the reductions of this library (pmpi/reduce), and those of native
 * FP32 all-reduces, on a machine of a few numbers. Each reduction is a file and
 * a row of a table.
 */
#ifndef APS_PREDICT_PREDICT_H
#define APS_PREDICT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "predict/call.h"

/* By the plan's reduction; of `auto` by the fastest of those that it tries, or
 * native where that is faster. The count is 1 or more. */
struct aps_prediction aps_predict(const struct aps_predicted_call *call);

/* The plan's reduction; of `auto` the fastest of those that it tries, or
 * APS_REDUCE_AUTO where it leaves the call to native MPI. */
enum aps_reduce_kind aps_predict_taken(const struct aps_predicted_call *call);

/* "core", "link", "latency" */
const char *aps_bound_name(enum aps_bound bound);

/* The ranks of the group that a plan names on the machine: of hierarchical a
 * host's at most. Packages and the like count as the host. */
int aps_predict_group(const struct aps_machine *machine,
                      const struct aps_plan *plan);

/* Does the plan's reduction have groups, and is `group` a size that they can have
 * on the machine? */
bool aps_predict_takes_group(const struct aps_machine *machine,
                             const struct aps_plan *plan, int group);

/* --- where it pays ----------------------------------------------------------- */

/* The least count from which on, up to `most` and 2^32, the call is faster than
 * native, to a part in a hundred; 0: it is for all, SIZE_MAX: not even for the
 * greatest. */
size_t aps_predict_least_count(const struct aps_predicted_call *call,
                               size_t most);

/* The rate of the links, bytes a second, above which native is faster with the
 * call's count, to a part in a hundred; INFINITY: none, 0: native is faster at
 * any. */
double aps_predict_most_rate(const struct aps_predicted_call *call);

#endif
