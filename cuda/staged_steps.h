/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps with the wire in host memory, through the slots of a lane: the codes of
 * many blocks share a slot, a transfer and a wait. See struct aps_memory.
 */
#ifndef APS_CUDA_STAGED_STEPS_H
#define APS_CUDA_STAGED_STEPS_H

#include "codec/memory.h"

/* `alone` runs a step by its verb: one that no kernel supports, whose codes are
 * longer than a slot, whose values are in host memory, or that has failed. */
void aps_staged_run(struct aps_device_step steps[], size_t count,
                    void (*alone)(struct aps_device_step *step));

#endif
