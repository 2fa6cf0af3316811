/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's copies that have returned and not ended. cudaMemcpy of up to
 * 64 KiB from pageable memory returns when the bytes are in a buffer of the
 * driver's, and cudaMemset when it is queued (CUDA's "API synchronization
 * behavior"): streams that do not wait for the legacy one may read the memory
 * sooner, or write it sooner and lose what they wrote.
 */
#ifndef APS_PMPI_DEVICE_GPU_SETTLE_H
#define APS_PMPI_DEVICE_GPU_SETTLE_H

#include "device/gpu_functions.h"

/*
 * Wait for those that touch the memory at p, and let all later ones return only
 * at their end: once for each allocation. Memory of a pool, or mapped by the
 * program: once for its context, and not while a stream is captured.
 */
void aps_gpu_settle(const struct aps_gpu_driver *driver, const void *p,
                    const struct aps_gpu_owner *owner);

#endif
