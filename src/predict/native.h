/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time of native FP32 all-reduces, by the descriptions in MPICH's manual and in
 * Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication
 * Operations in MPICH" (2005). Nothing overlaps: a rank sends and receives,
 * then adds.
 */
#ifndef APS_PREDICT_NATIVE_H
#define APS_PREDICT_NATIVE_H

#include <stddef.h>

#include "predict/machine.h"

enum aps_native_kind {
    APS_NATIVE_DOUBLING, /* recursive doubling */
    APS_NATIVE_RABENSEIFNER,
    APS_NATIVE_RING,
    /* MPICH 4's "composition alpha": a reduce to one rank of each host, an
     * all-reduce of these ranks, a broadcast on each host. */
    APS_NATIVE_COMPOSITION,
    APS_NATIVE_KINDS
};

double aps_predict_native(const struct aps_machine *machine,
                          enum aps_native_kind kind, size_t count);

/* Returns "recursive doubling", "Rabenseifner", "ring" or "composition". */
const char *aps_native_name(enum aps_native_kind kind);

/* Returns the algorithm of MPICH 4 (device ch4) for a blocking call of `count`
 * floats: the composition if several hosts have several ranks each. */
enum aps_native_kind aps_predict_native_kind(const struct aps_machine *machine,
                                             size_t count);

#endif
