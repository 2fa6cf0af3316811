/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of an all-reduce by an alpha-beta model: the messages, chunks and
 * pipelines of the library's reductions (pmpi/reduce), and native FP32
 * all-reduces, on a machine of a few numbers. Each reduction is a file and a
 * row of a table.
 */
#ifndef APS_PREDICT_PREDICT_H
#define APS_PREDICT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "predict/call.h"

/* Returns the time of the plan's reduction; for `auto` that of the fastest
 * reduction that it tries, or native if that is faster. The count is at least
 * 1. */
struct aps_prediction aps_predict(const struct aps_predicted_call *call);

/* Returns the plan's reduction; for `auto` the fastest that it tries, or
 * APS_REDUCE_AUTO if it leaves the call to native MPI. */
enum aps_reduce_kind aps_predict_taken(const struct aps_predicted_call *call);

/* Returns "core", "link" or "latency". */
const char *aps_bound_name(enum aps_bound bound);

/* Returns the ranks of the plan's group on the machine; for hierarchical at
 * most those of a host. Packages, NUMA nodes and caches count as the host. */
int aps_predict_group(const struct aps_machine *machine,
                      const struct aps_plan *plan);

/* True if the plan's reduction has groups, and `group` is a size that they can
 * have on the machine. */
bool aps_predict_takes_group(const struct aps_machine *machine,
                             const struct aps_plan *plan, int group);

/* --- where it pays ----------------------------------------------------------- */

/* Returns the least count from which, up to `most` and 2^32, the call is faster
 * than native, to one part in a hundred; 0: every count is, SIZE_MAX: no count
 * is. */
size_t aps_predict_least_count(const struct aps_predicted_call *call,
                               size_t most);

/* Returns the rate of the links, in bytes per second, above which native is
 * faster for the call's count, to one part in a hundred; INFINITY: none, 0:
 * native is faster at each rate. */
double aps_predict_most_rate(const struct aps_predicted_call *call);

#endif
