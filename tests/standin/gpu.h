/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers in GPU memory for test programs, by the driver that they find at run
 * time: CUDA's, or the stand-in (LD_LIBRARY_PATH).
 */
#ifndef APS_STANDIN_GPU_H
#define APS_STANDIN_GPU_H

#include <stdbool.h>
#include <stddef.h>

/* Loads the driver and makes a context. Returns NULL, or the cause of a failure. */
const char *gpu_open(void);

/* These functions never fail: they end the process. */
void *gpu_alloc(size_t bytes, bool managed);
void *gpu_alloc_pool(size_t bytes); /* as gpu_alloc's on the stand-in */
void gpu_free(void *device);
void gpu_put(void *device, const void *host, size_t bytes);
void gpu_get(void *host, const void *device, size_t bytes);

/* Copies as cudaMemcpy does, in the legacy stream. */
void gpu_put_by_legacy(void *device, const void *host, size_t bytes);

/* Capture a stream; the end returns true if the capture stayed valid. */
void gpu_capture_begin(void);
bool gpu_capture_end(void);

/* Returns the number of uses of the legacy stream other than gpu_put_by_legacy.
 * 0 without the stand-in. */
long gpu_legacy_uses(void);

/* Returns the number of waits of this library for the GPU, and of its kernel
 * starts. False without the stand-in. */
bool gpu_counts(long *waits, long *kernels);

/* Makes no context current in this thread; or the one from gpu_open. */
void gpu_leave(void);
void gpu_enter(void);

/* Makes copies fail after `copies` more; < 0: never. False without the stand-in. */
bool gpu_fail_after(long copies);

#endif
