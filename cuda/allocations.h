/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the library holds for some time: its own device memory, that of
 * other processes, and locked host memory. It must be released in the context
 * in which it was allocated, which its address does not determine: after the
 * end of a context (cudaDeviceReset, cuCtxDestroy) the program may have other
 * memory there. The entry is then dropped.
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

/* True if it is still the same allocation. */
bool aps_cuda_allocations_last(const struct aps_cuda_allocations *known);

/* Adds an entry; may be called several times for the same memory. Returns -1 if
 * memory is short. */
int aps_cuda_allocations_add(struct aps_cuda_allocations known);

/* Finds the entry into which `address` points. Returns false if there is
 * none. */
bool aps_cuda_allocations_find(const void *address,
                               struct aps_cuda_allocations *known);

/* Finds the entry like aps_cuda_allocations_find, and removes it once. */
bool aps_cuda_allocations_remove(const void *address,
                                 struct aps_cuda_allocations *known);

/* True if kernels of the visited context can access the memory: its own, or
 * another process's that was opened there. */
bool aps_cuda_allocations_reach(const struct aps_cuda_visit *visit,
                                const void *address);

/* Runs aps_cuda_enter, for memory that has an entry, too. */
enum aps_cuda_where aps_cuda_allocations_enter(const void *pointer,
                                               struct aps_cuda_visit *visit);

#endif
