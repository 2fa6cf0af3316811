/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of other types than FP32 in device memory. See aps_cuda_elements_fn. */
#ifndef APS_CUDA_ELEMENTS_H
#define APS_CUDA_ELEMENTS_H

#include "cuda/plugin.h"

int aps_cuda_elements_run(enum aps_element element,
                          struct aps_device_step *step,
                          struct aps_encode_stats *stats);

#endif
