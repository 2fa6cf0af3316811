/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for copies of the program that have returned but not ended. cudaMemcpy
 * of up to 64 KiB from pageable memory returns when the bytes are in a buffer
 * of the driver, and cudaMemset when it is queued (CUDA's "API synchronization
 * behavior"). Streams that do not wait for the legacy stream may then read the
 * memory too early, or write to it too early and lose what they wrote.
 */
#ifndef APS_PMPI_DEVICE_GPU_SETTLE_H
#define APS_PMPI_DEVICE_GPU_SETTLE_H

#include "device/gpu_functions.h"

/*
 * Waits for such copies that touch the memory at p, and makes all later copies
 * return only at their end. This is done once for each allocation. For memory
 * of a pool, or memory that the program has mapped, it is done once for the
 * context, and not while a stream is captured.
 */
void aps_gpu_settle(const struct aps_gpu_driver *driver, const void *p,
                    const struct aps_gpu_owner *owner);

#endif
