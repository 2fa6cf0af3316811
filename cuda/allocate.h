/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's own memory: on a device, and locked on the host. See struct
 * aps_device_memory and struct aps_memory.
 */
#ifndef APS_CUDA_ALLOCATE_H
#define APS_CUDA_ALLOCATE_H

#include <stdbool.h>
#include <stddef.h>

void *aps_cuda_allocate(const void *near, size_t bytes, char *cause,
                        size_t size);
void aps_cuda_release(void *memory);
bool aps_cuda_holds(const void *memory);

int aps_cuda_pin(void *host, size_t bytes, const void *near);
void aps_cuda_unpin(void *host);

#endif
