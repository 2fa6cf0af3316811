/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps that are queued in one stream and waited for once. See struct
 * aps_device_memory; staged_steps.h has the steps with the wire in host memory.
 */
#ifndef APS_CUDA_STEPS_H
#define APS_CUDA_STEPS_H

#include "codec/memory.h"
#include "cuda/context.h"
#include "cuda/threads.h"

int aps_cuda_run(struct aps_device_step steps[], size_t count);

/* Takes the findings of the kernel of a step that encodes or measures. */
void aps_cuda_step_take(struct aps_device_step *step,
                        const struct aps_cuda_result *found);

#endif
