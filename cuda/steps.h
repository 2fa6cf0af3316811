/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that are queued in one stream and waited for once. See struct
 * aps_device_memory; those with the wire in host memory are staged_steps.h's. */
#ifndef APS_CUDA_STEPS_H
#define APS_CUDA_STEPS_H

#include "codec/memory.h"
#include "cuda/context.h"
#include "cuda/threads.h"

int aps_cuda_run(struct aps_device_step steps[], size_t count);

/* What the kernel of a step that encodes or measures has found. */
void aps_cuda_step_take(struct aps_device_step *step,
                        const struct aps_cuda_result *found);

#endif
