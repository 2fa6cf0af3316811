/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is ours for a while: device memory of our own and of other
 * processes, and host memory that is locked. It has to be given back in the context
 * that it was taken in, which its address does not tell for sure: after the end of
 * a context (cudaDeviceReset, cuCtxDestroy) the program may have something else
 * there. What is known is then forgotten.
 */
#ifndef APS_CUDA_ALLOCATIONS_H
#define APS_CUDA_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda/context.h"

struct aps_cuda_allocations {
    unsigned char *base;
    size_t bytes;
    struct aps_cuda_context *context;
    unsigned long long buffer; /* aps_cuda_buffer_of(base) */
};

/* Is it still the allocation that it was? */
bool aps_cuda_allocations_last(const struct aps_cuda_allocations *known);

/* May be added several times. -1: out of memory. */
int aps_cuda_allocations_add(struct aps_cuda_allocations known);

/* That which `address` points into; false if there is none. */
bool aps_cuda_allocations_find(const void *address,
                               struct aps_cuda_allocations *known);

/* Likewise, and known once less. */
bool aps_cuda_allocations_remove(const void *address,
                                 struct aps_cuda_allocations *known);

/* Do kernels of the context that is visited reach the memory: its own, or
 * another process's that was opened there? */
bool aps_cuda_allocations_reach(const struct aps_cuda_visit *visit,
                                const void *address);

/* aps_cuda_enter, for memory that is known, too. */
enum aps_cuda_where aps_cuda_allocations_enter(const void *pointer,
                                               struct aps_cuda_visit *visit);

#endif
