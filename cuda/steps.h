/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that are queued in one stream and waited for once. See struct
 * aps_device_memory. */
#ifndef APS_CUDA_STEPS_H
#define APS_CUDA_STEPS_H

#include "codec/memory.h"

int aps_cuda_run(struct aps_device_step steps[], size_t count);

#endif
