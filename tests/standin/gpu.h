/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers in GPU memory for test programs, by the driver that they find at run
 * time: CUDA's, or the stand-in (LD_LIBRARY_PATH).
 */
#ifndef APS_STANDIN_GPU_H
#define APS_STANDIN_GPU_H

#include <stdbool.h>
#include <stddef.h>

/* Loads the driver and makes a context; NULL, or why there is none. */
const char *gpu_open(void);

/* Never fail: they end the process. */
void *gpu_alloc(size_t bytes, bool managed);
void *gpu_alloc_pool(size_t bytes); /* as gpu_alloc's on the stand-in */
void gpu_free(void *device);
void gpu_put(void *device, const void *host, size_t bytes);
void gpu_get(void *host, const void *device, size_t bytes);

/* As programs do with cudaMemcpy, in the legacy stream. */
void gpu_put_by_legacy(void *device, const void *host, size_t bytes);

/* A capture of a stream of the program's; whether it was valid up to its end. */
void gpu_capture_begin(void);
bool gpu_capture_end(void);

/* How often the legacy stream was used by others than gpu_put_by_legacy. The
 * stand-in only, else 0. */
long gpu_legacy_uses(void);

/* How often this library has waited for the GPU, and started a kernel. The
 * stand-in only, else false. */
bool gpu_counts(long *waits, long *kernels);

/* No context is current any more in this thread; or the one from gpu_open. */
void gpu_leave(void);
void gpu_enter(void);

/* The stand-in only, else false: copies fail after so many, < 0: never. */
bool gpu_fail_after(long copies);

#endif
