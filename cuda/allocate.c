/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/allocate.h"

#include <stdio.h>

#include "cuda/context.h"
#include "cuda/failure.h"
#include "cuda/allocations.h"

/* Smaller allocations share one of this size, which is shared with another
 * process as a whole, whoever's the rest is. */
#define GRAIN ((size_t)2 << 20)

void *aps_cuda_allocate(const void *near, size_t bytes, char *cause,
                        size_t size)
{
    struct aps_cuda_visit visit;
    void *memory = NULL;
    cudaError_t error = cudaErrorMemoryAllocation;

    if (!aps_cuda_enter_device(near, &visit, cause, size))
        return NULL;
    if (bytes <= SIZE_MAX - GRAIN) {
        bytes = (bytes + (bytes == 0) + GRAIN - 1) / GRAIN * GRAIN;
        error = cudaMalloc(&memory, bytes);
    }
    if (error != cudaSuccess) {
        snprintf(cause, size, "%s", cudaGetErrorString(error));
        memory = NULL;
    }
    aps_cuda_leave(&visit);
    return memory;
}

void aps_cuda_release(void *memory)
{
    struct aps_cuda_visit visit;

    /* where nothing is to be visited the driver is down, or the context gone */
    if (!memory || aps_cuda_enter(memory, &visit) != APS_CUDA_DEVICE)
        return;
    aps_cuda_failure_check("release", cudaFree(memory));
    aps_cuda_leave(&visit);
}

int aps_cuda_pin(void *host, size_t bytes, const void *near)
{
    struct aps_cuda_visit visit;
    int result = -1;

    if (aps_cuda_enter(near, &visit) != APS_CUDA_DEVICE)
        return -1;
    if (cudaHostRegister(host, bytes, cudaHostRegisterPortable) ==
        cudaSuccess) {
        result = aps_cuda_allocations_add(
            (struct aps_cuda_allocations){host, bytes, visit.context});
        if (result < 0)
            cudaHostUnregister(host);
    }
    aps_cuda_leave(&visit);
    return result;
}

void aps_cuda_unpin(void *host)
{
    struct aps_cuda_allocations known;
    struct aps_cuda_visit visit;

    if (!host || !aps_cuda_allocations_remove(host, &known) ||
        aps_cuda_enter_again(known.context, host, &visit) != APS_CUDA_DEVICE)
        return;
    aps_cuda_failure_check("unpin", cudaHostUnregister(host));
    aps_cuda_leave(&visit);
}
