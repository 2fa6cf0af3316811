/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels. Each function starts its work on a stream of the current context
 * and returns; arrays are device, managed or pinned memory that this context
 * can access, of any size and alignment. The bytes are those of the host codec
 * (codec/codec.h), whatever the device.
 *
 * Statistics and magnitudes are added to *result, in device memory.
 */
#ifndef APS_CUDA_KERNELS_H
#define APS_CUDA_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "base/element.h"
#include "codec/codec.h"
#include "cuda/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Most blocks of a grid; 0, except in tests: as many as the device can hold at
 * once. */
extern unsigned aps_cuda_blocks_max;

/* Loads all kernels into the current context, and looks up how many blocks of
 * each fill the device. Otherwise the first launch of each loads it, and may
 * then wait for the program's kernels. */
cudaError_t aps_cuda_kernels_load(void);

cudaError_t aps_cuda_kernel_magnitude(const float *x, size_t n,
                                      struct aps_cuda_result *result,
                                      cudaStream_t stream);

/*
 * `options` NULL: to nearest. Without `stats` only the marker is written, and
 * `result` may be NULL.
 *
 * If the values of a piece share a scale (format.piece_bytes), x is all of the
 * piece and `max` NULL, or it is whole blocks of the piece, whose greatest
 * finite magnitude is *max; the wire has the scale in either case. With `max`
 * NULL the kernel finds the magnitude, and `result` must not be NULL.
 */
cudaError_t aps_cuda_kernel_encode(const struct aps_format *format,
                                   const float *x, size_t n,
                                   struct aps_scaling scaling,
                                   const struct aps_cast_options *options,
                                   const float *max, bool stats, void *wire,
                                   struct aps_cuda_result *result,
                                   cudaStream_t stream);

/* x[i] = value i, or x[i] += value i if `add`. */
cudaError_t aps_cuda_kernel_decode(const struct aps_format *format,
                                   const void *wire, size_t n,
                                   struct aps_scaling scaling, unsigned flags,
                                   bool add, float *x, cudaStream_t stream);

/* Converts n elements of another type than FP32 to FP32, or, if `narrow`, FP32 to
 * that type: rounded to nearest even, beyond fp16 to INF. n is at most
 * APS_THREADS_MAX. */
cudaError_t aps_cuda_kernel_convert(enum aps_element element, bool narrow,
                                    const void *from, size_t n, void *to,
                                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
