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
    APS_NATIVE_KINDS
};

double aps_predict_native(const struct aps_machine *machine,
                          enum aps_native_kind kind, size_t count);

/* "recursive doubling", "Rabenseifner", "ring" */
const char *aps_native_name(enum aps_native_kind kind);

/* What MPICH takes for so many floats: the table of its all-reduces
 * (MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE). */
enum aps_native_kind aps_predict_native_kind(const struct aps_machine *machine,
                                             size_t count);

#endif
