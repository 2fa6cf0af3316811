/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/ipc.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cuda/context.h"
#include "cuda/failure.h"
#include "cuda/allocations.h"

/* With the version of the following members. */
static const char magic[8] = "apscuda1";

_Static_assert(sizeof(struct aps_cuda_token) <= sizeof(struct aps_memory_token),
               "a token has room");

/* --- which process ------------------------------------------------------- */

static uint64_t process;

static void ipc_draw_process(void)
{
    struct timespec now;

    if (getrandom(&process, sizeof process, GRND_NONBLOCK) ==
        (ssize_t)sizeof process)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    process = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns a number for this process, which differs in a child that was forked
 * since. */
static uint64_t ipc_this_process(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, ipc_draw_process);
    return process;
}

/* --- verbs --------------------------------------------------------------- */

int aps_cuda_offer(void *memory, struct aps_memory_token *token, char *cause,
                   size_t size)
{
    struct aps_cuda_token t = {
        .process = ipc_this_process(),
        .pid = (uint64_t)getpid(),
    };
    struct aps_cuda_visit visit;
    CUdeviceptr base = 0;
    size_t bytes = 0;
    CUresult result;
    cudaError_t error = cudaSuccess;

    if (!aps_cuda_enter_device(memory, &visit, cause, size))
        return -1;
    result = aps_cuda_driver.address_range(&base, &bytes,
                                           (CUdeviceptr)(uintptr_t)memory);
    if (result == CUDA_SUCCESS)
        error = cudaIpcGetMemHandle(&t.handle, (void *)(uintptr_t)base);
    if (result != CUDA_SUCCESS)
        snprintf(cause, size, "%s", aps_cuda_driver_error(result));
    else if (error != cudaSuccess)
        snprintf(cause, size, "%s", cudaGetErrorString(error));
    aps_cuda_leave(&visit);
    if (result != CUDA_SUCCESS || error != cudaSuccess)
        return -1;

    memcpy(t.magic, magic, sizeof magic);
    t.offset = (uintptr_t)memory - (uintptr_t)base;
    t.bytes = bytes;
    *token = (struct aps_memory_token){{0}};
    memcpy(token->bytes, &t, sizeof t);
    return 0;
}

/* In the context: opens the token. Returns NULL with the cause. */
static void *ipc_open_here(const struct aps_cuda_token *token,
                           struct aps_cuda_context *context, char *cause,
                           size_t size)
{
    void *base = NULL;
    cudaError_t error = cudaIpcOpenMemHandle(&base, token->handle,
                                             cudaIpcMemLazyEnablePeerAccess);

    if (error != cudaSuccess) {
        snprintf(cause, size, "%s", cudaGetErrorString(error));
        return NULL;
    }
    if (aps_cuda_allocations_add((struct aps_cuda_allocations){
            .base = base,
            .bytes = token->bytes,
            .context = context,
            .buffer = aps_cuda_buffer_of(base)}) < 0) {
        snprintf(cause, size, "out of memory");
        cudaIpcCloseMemHandle(base);
        return NULL;
    }
    return (unsigned char *)base + token->offset;
}

void *aps_cuda_open(const struct aps_memory_token *token, const void *near,
                    char *cause, size_t size)
{
    struct aps_cuda_token t;
    struct aps_cuda_visit visit;
    void *opened;

    memcpy(&t, token->bytes, sizeof t);
    if (memcmp(t.magic, magic, sizeof magic) != 0 || t.offset >= t.bytes) {
        snprintf(cause, size, "the bytes are not a token of CUDA memory");
        return NULL;
    }
    if (t.process == ipc_this_process() && t.pid == (uint64_t)getpid()) {
        snprintf(cause, size, "the memory is this process's own");
        return NULL;
    }
    if (!aps_cuda_enter_device(near, &visit, cause, size))
        return NULL;
    opened = ipc_open_here(&t, visit.context, cause, size);
    aps_cuda_leave(&visit);
    return opened;
}

void aps_cuda_close(void *opened)
{
    struct aps_cuda_allocations known;
    struct aps_cuda_visit visit;

    if (!opened || !aps_cuda_allocations_remove(opened, &known) ||
        aps_cuda_enter_again(known.context, opened, known.buffer, &visit) !=
            APS_CUDA_DEVICE)
        return;
    aps_cuda_failure_check("close", cudaIpcCloseMemHandle(known.base));
    aps_cuda_leave(&visit);
}
