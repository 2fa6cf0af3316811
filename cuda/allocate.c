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
    } else if (aps_cuda_allocations_add((struct aps_cuda_allocations){
                   .base = memory,
                   .bytes = bytes,
                   .context = visit.context,
                   .buffer = aps_cuda_buffer_of(memory)}) < 0) {
        snprintf(cause, size, "out of memory");
        cudaFree(memory);
        memory = NULL;
    }
    aps_cuda_leave(&visit);
    return memory;
}

void aps_cuda_release(void *memory)
{
    struct aps_cuda_allocations known;
    struct aps_cuda_visit visit;
    cudaError_t error = cudaSuccess;

    /* Forget it first: another thread may get its address at once. */
    if (!memory || !aps_cuda_allocations_remove(memory, &known))
        return;
    switch (aps_cuda_enter_again(known.context, memory, known.buffer, &visit)) {
    case APS_CUDA_HOST: /* the context is gone, and the memory with it */
        return;
    case APS_CUDA_NOWHERE: /* the driver is down */
        error = cudaErrorCudartUnloading;
        break;
    case APS_CUDA_DEVICE:
        error = cudaFree(memory);
        aps_cuda_failure_check("release", error);
        aps_cuda_leave(&visit);
        break;
    }
    if (error != cudaSuccess)
        (void)aps_cuda_allocations_add(known);
}

bool aps_cuda_holds(const void *memory)
{
    struct aps_cuda_allocations known;

    return aps_cuda_allocations_find(memory, &known) &&
           aps_cuda_allocations_last(&known);
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
            (struct aps_cuda_allocations){.base = host,
                                          .bytes = bytes,
                                          .context = visit.context,
                                          .buffer = aps_cuda_buffer_of(host)});
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
        aps_cuda_enter_again(known.context, host, known.buffer, &visit) !=
            APS_CUDA_DEVICE)
        return;
    aps_cuda_failure_check("unpin", cudaHostUnregister(host));
    aps_cuda_leave(&visit);
}
