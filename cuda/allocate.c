/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/allocate.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/context.h"
#include "cuda/failure.h"
#include "cuda/allocations.h"

/* Smaller allocations share one of this size, which is shared with another
 * process as a whole, including memory of the program. */
#define GRAIN ((size_t)2 << 20)

/* --- kept memory ---------------------------------------------------------- */

/* Released memory that is kept for the next allocation of its size: cudaFree
 * waits for the program's kernels, and those may wait for the current call. */
#define KEPT_MAX ((size_t)160 << 20)

struct kept {
    struct aps_cuda_allocations known;
    struct kept *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct kept *kept;
static size_t kept_bytes;

/* With the mutex held: unlinks it from the list. */
static struct kept *allocate_unlink_locked(struct kept **link)
{
    struct kept *found = *link;

    *link = found->next;
    kept_bytes -= found->known.bytes;
    return found;
}

/* With the mutex held: forgets memory whose context has ended. */
static void allocate_forget_locked(void)
{
    for (struct kept **link = &kept; *link;) {
        if (aps_cuda_allocations_last(&(*link)->known))
            link = &(*link)->next;
        else
            free(allocate_unlink_locked(link));
    }
}

/* Returns false if there is no room. */
static bool allocate_keep(const struct aps_cuda_allocations *known)
{
    struct kept *new = malloc(sizeof *new);
    bool room;

    pthread_mutex_lock(&mutex);
    allocate_forget_locked();
    room =
        new && known->bytes <= KEPT_MAX &&kept_bytes <= KEPT_MAX - known->bytes;
    if (room) {
        *new = (struct kept){.known = *known, .next = kept};
        kept = new;
        kept_bytes += known->bytes;
    }
    pthread_mutex_unlock(&mutex);
    if (!room)
        free(new);
    return room;
}

/* Takes kept memory of that context and size, or, if `bytes` is 0, of any size.
 * Returns NULL if there is none. */
static void *allocate_take(const struct aps_cuda_context *context, size_t bytes)
{
    struct kept *found = NULL;
    void *base = NULL;

    pthread_mutex_lock(&mutex);
    allocate_forget_locked();
    for (struct kept **link = &kept; *link && !found;) {
        const struct aps_cuda_allocations *known = &(*link)->known;

        if (known->context == context && (bytes == 0 || known->bytes == bytes))
            found = allocate_unlink_locked(link);
        else
            link = &(*link)->next;
    }
    pthread_mutex_unlock(&mutex);
    if (found)
        base = found->known.base;
    free(found);
    return base;
}

/* In the visited context: takes kept memory, or new memory; if there is none
 * left, first frees all that is kept. */
static cudaError_t allocate_get(const struct aps_cuda_visit *visit,
                                size_t bytes, void **memory)
{
    cudaError_t error;
    void *other;

    *memory = allocate_take(visit->context, bytes);
    if (*memory)
        return cudaSuccess;
    error = cudaMalloc(memory, bytes);
    if (error != cudaErrorMemoryAllocation)
        return error;
    while ((other = allocate_take(visit->context, 0)))
        aps_cuda_failure_check("release", cudaFree(other));
    cudaGetLastError();
    return cudaMalloc(memory, bytes);
}

/* --- verbs ------------------------------------------------------------------ */

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
        error = allocate_get(&visit, bytes, &memory);
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

    /* Forget it first, because another thread may get its address at once. */
    if (!memory || !aps_cuda_allocations_remove(memory, &known) ||
        (aps_cuda_allocations_last(&known) && allocate_keep(&known)))
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
