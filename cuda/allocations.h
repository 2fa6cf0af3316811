/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is another's, and is ours for a while: other processes' device
 * memory, and host memory that is locked. Both have to be given back in the
 * context that they were taken in, which their addresses do not tell for sure.
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
};

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
