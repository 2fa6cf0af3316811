/* SPDX-License-Identifier: BSD-3-Clause */
/* Compile with -fmad=false, because a fused product would be another number. */
#include "cuda/sums_kernels.h"

#include <cuda_runtime.h>

#define THREADS 256

/* Blocks that keep every GPU busy; a thread advances by the grid. */
#define BLOCKS 4096

static __global__ void __launch_bounds__(THREADS)
    cast_kernel(const __grid_constant__ struct aps_cast_work w)
{
    const uint32_t stride = gridDim.x * THREADS;

    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < w.encode.n;
         i += stride)
        aps_cast_element(&w, i);
}

template <bool KAHAN>
static __global__ void __launch_bounds__(THREADS)
    sum_kernel(const __grid_constant__ struct aps_sum_work w)
{
    const uint32_t stride = gridDim.x * THREADS;

    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < w.n; i += stride)
        aps_sum_element(&w, KAHAN, i);
}

/* Adjacent threads are in a row of C, so that they read adjacent elements of
 * B. */
template <bool KAHAN>
static __global__ void __launch_bounds__(THREADS)
    gemm_kernel(const __grid_constant__ struct aps_gemm_work w)
{
    const uint64_t strips = (w.m + APS_GEMM_UNIT - 1) / APS_GEMM_UNIT;
    const uint64_t units = strips * w.n;
    const uint64_t stride = (uint64_t)gridDim.x * THREADS;

    for (uint64_t unit = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
         unit < units; unit += stride)
        aps_gemm_unit(&w, KAHAN, unit / w.n * APS_GEMM_UNIT, unit % w.n);
}

static dim3 grid_of(uint64_t units)
{
    uint64_t blocks = (units + THREADS - 1) / THREADS;

    return dim3((unsigned)(blocks < BLOCKS ? blocks : BLOCKS));
}

cudaError_t aps_cuda_kernel_cast(const struct aps_cast_work *work,
                                 cudaStream_t stream)
{
    void *arguments[] = {(void *)work};

    return cudaLaunchKernel((const void *)cast_kernel, grid_of(work->encode.n),
                            dim3(THREADS), arguments, 0, stream);
}

cudaError_t aps_cuda_kernel_sum(const struct aps_sum_work *work, bool kahan,
                                cudaStream_t stream)
{
    void *arguments[] = {(void *)work};

    return cudaLaunchKernel(kahan ? (const void *)sum_kernel<true>
                                  : (const void *)sum_kernel<false>,
                            grid_of(work->n), dim3(THREADS), arguments, 0,
                            stream);
}

cudaError_t aps_cuda_kernel_gemm(const struct aps_gemm_work *work, bool kahan,
                                 cudaStream_t stream)
{
    uint64_t strips = (work->m + APS_GEMM_UNIT - 1) / APS_GEMM_UNIT;
    void *arguments[] = {(void *)work};

    return cudaLaunchKernel(kahan ? (const void *)gemm_kernel<true>
                                  : (const void *)gemm_kernel<false>,
                            grid_of(strips * work->n), dim3(THREADS), arguments,
                            0, stream);
}
