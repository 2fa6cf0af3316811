/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of the threads of a warp, joined, in CUDA C alone. */
#ifndef APS_CUDA_WARPS_H
#define APS_CUDA_WARPS_H

#include "cuda/threads.h"

#define APS_WARP 32

/* Returns the greatest of a warp's values, in its first thread. */
static __device__ uint32_t warp_max(uint32_t value)
{
    for (int distance = APS_WARP / 2; distance > 0; distance /= 2) {
        uint32_t other = __shfl_down_sync(0xffffffffu, value, distance);

        value = other > value ? other : value;
    }
    return value;
}

/* Returns the greatest of the values of `lanes` neighbours, a power of two, in
 * all of them; the whole warp calls it. */
static __device__ uint32_t group_max(uint32_t value, uint32_t lanes)
{
    for (uint32_t distance = lanes / 2; distance > 0; distance /= 2) {
        uint32_t other = __shfl_xor_sync(0xffffffffu, value, (int)distance);

        value = other > value ? other : value;
    }
    return value;
}

static __device__ uint32_t warp_sum(uint32_t value)
{
    for (int distance = APS_WARP / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

/* Adds the statistics of all threads of a warp to the result's. */
static __device__ void tell_stats(const struct aps_threads_seen *seen,
                                  struct aps_cuda_result *result)
{
    uint32_t underflow = warp_sum(seen->underflow);
    uint32_t overflow = warp_sum(seen->overflow);
    uint32_t nonfinite = warp_sum(seen->nonfinite);

    if (threadIdx.x % APS_WARP != 0)
        return;
    if (underflow > 0)
        atomicAdd(&result->underflow, underflow);
    if (overflow > 0)
        atomicAdd(&result->overflow, overflow);
    if (nonfinite > 0)
        atomicAdd(&result->nonfinite, nonfinite);
}

#endif
