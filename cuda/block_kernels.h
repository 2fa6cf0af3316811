/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of formats in blocks, called by the functions of cuda/kernels.h
 * with their arguments; `format` is in blocks.
 */
#ifndef APS_CUDA_BLOCK_KERNELS_H
#define APS_CUDA_BLOCK_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "codec/codec.h"
#include "cuda/threads.h"

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t aps_cuda_kernels_load_blocks(void);

cudaError_t aps_cuda_kernel_encode_blocks(
    const struct aps_format *format, const float *x, size_t n,
    const struct aps_cast_options *options, const float *max, bool stats,
    void *wire, struct aps_cuda_result *result, cudaStream_t stream);

cudaError_t aps_cuda_kernel_decode_blocks(const struct aps_format *format,
                                          const void *wire, size_t n, bool add,
                                          float *x, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
