/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host memory that stands in for buffers in a GPU's: kept for the next calls,
 * as fresh pages cost as much as the copies, and locked where the backend can,
 * so that the driver copies at once.
 */
#ifndef APS_PMPI_DEVICE_PINNED_POOL_H
#define APS_PMPI_DEVICE_PINNED_POOL_H

#include <stddef.h>

/* At a multiple of 256 bytes, for copies of the device's memory at `near`,
 * which aps_gpu_driver_owns. NULL: out of memory. Thread-safe. */
void *aps_pinned_pool_take(size_t bytes, const void *near);
void aps_pinned_pool_give(void *memory); /* NULL: nothing */

#endif
