/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host memory for bounce buffers. The pool keeps it for later calls, because
 * new pages cost as much as the copies. It pins the memory if the backend can,
 * because the driver then copies without its own buffer. It keeps up to 512
 * MiB, and unpins memory only after many takes without it.
 */
#ifndef APS_PMPI_DEVICE_PINNED_POOL_H
#define APS_PMPI_DEVICE_PINNED_POOL_H

#include <stddef.h>

/* Returns memory at a multiple of 256 bytes, for copies of the GPU memory at
 * `near`, or NULL if memory is missing. The caller gives it back. Thread-safe. */
void *aps_pinned_pool_take(size_t bytes, const void *near);
void aps_pinned_pool_give(void *memory); /* NULL is allowed. */

#endif
