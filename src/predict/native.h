/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of native FP32 all-reduces, as MPICH's manual and Thakur, Rabenseifner
 * and Gropp, "Optimization of Collective Communication Operations in MPICH" (2005)
 * describe them. Nothing overlaps: a rank sends and receives, then adds.
 */
#ifndef APS_PREDICT_NATIVE_H
#define APS_PREDICT_NATIVE_H

#include <stddef.h>

#include "predict/machine.h"

enum aps_native_kind {
    APS_NATIVE_DOUBLING, /* recursive doubling */
    APS_NATIVE_RABENSEIFNER,
    APS_NATIVE_RING,
    /* MPICH 4's "composition alpha": a reduce to one rank of each host, an all-reduce
     * of these, a broadcast inside each host. */
    APS_NATIVE_COMPOSITION,
    APS_NATIVE_KINDS
};

double aps_predict_native(const struct aps_machine *machine,
                          enum aps_native_kind kind, size_t count);

/* "recursive doubling", "Rabenseifner", "ring", "composition" */
const char *aps_native_name(enum aps_native_kind kind);

/* What MPICH 4 (device ch4) takes for a blocking call of so many floats: the
 * composition where several hosts have several ranks each. */
enum aps_native_kind aps_predict_native_kind(const struct aps_machine *machine,
                                             size_t count);

#endif
