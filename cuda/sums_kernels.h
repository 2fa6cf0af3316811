/* SPDX-License-Identifier: BSD-3-Clause */
/* The C API's kernels, like those of cuda/kernels.h. */
#ifndef APS_CUDA_SUMS_KERNELS_H
#define APS_CUDA_SUMS_KERNELS_H

#include <cuda_runtime_api.h>

#include "cuda/sums.h"

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t aps_cuda_kernel_cast(const struct aps_cast_work *work,
                                 cudaStream_t stream);
cudaError_t aps_cuda_kernel_sum(const struct aps_sum_work *work, bool kahan,
                                cudaStream_t stream);
cudaError_t aps_cuda_kernel_gemm(const struct aps_gemm_work *work, bool kahan,
                                 cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
