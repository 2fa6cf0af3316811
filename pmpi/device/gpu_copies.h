/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between host memory and a GPU's memory, by the CUDA driver. */
#ifndef APS_PMPI_DEVICE_GPU_COPIES_H
#define APS_PMPI_DEVICE_GPU_COPIES_H

#include <stddef.h>

/*
 * Copy between host memory and memory that the driver owns, of any device and
 * context. The copy is complete on return. Return 0, or -1 with the cause.
 * Thread-safe.
 */
int aps_gpu_copy_out(void *host, const void *device, size_t bytes, char *cause,
                     size_t size);
int aps_gpu_copy_in(void *device, const void *host, size_t bytes, char *cause,
                    size_t size);

#endif
