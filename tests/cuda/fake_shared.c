/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of other processes, and the program's memory that it has locked, for
 * the fake device. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_state.h"

/* Content of a handle: the whole allocation. */
struct handle {
    void *base;
    unsigned long long magic;
};
#define MAGIC 0x1234567890abcdefull

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory)
{
    cudaError_t error = fake_enter();
    struct fake_memory *m = fake_find_memory(memory);
    struct handle h = {.magic = MAGIC};

    if (error != cudaSuccess)
        return fake_leave(error);
    if (!m || m->kind != FAKE_DEVICE || m->pinned || m->shared)
        return fake_leave(cudaErrorInvalidValue);
    fake_need_context(m->context);
    h.base = m->base;
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &h, sizeof h);
    return fake_leave(cudaSuccess);
}

/* The owner is this process itself, which is never reported. */
cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle,
                                 unsigned flags)
{
    cudaError_t error = fake_enter();
    struct fake_memory *owner, *m;
    struct handle h;

    memcpy(&h, &handle, sizeof h);
    if (flags != cudaIpcMemLazyEnablePeerAccess)
        fake_wrong("another device's memory would not be reached");
    fake_need_context(fake_stack[fake_depth]);
    owner = h.magic == MAGIC ? fake_find_memory(h.base) : NULL;
    if (error == cudaSuccess && !owner)
        error = cudaErrorInvalidResourceHandle;
    if (error != cudaSuccess)
        return fake_leave(error);
    for (m = fake_device.memories; m; m = m->next) {
        if (m->shared == owner->base && m->context == fake_stack[fake_depth])
            break;
    }
    if (!m) {
        m = malloc(sizeof *m);
        if (!m)
            abort();
        *m = *owner;
        m->base = mmap(NULL, m->size, PROT_NONE, MAP_SHARED, owner->file, 0);
        if (m->base == MAP_FAILED)
            abort();
        m->kind = FAKE_POOL; /* the driver does not report its context */
        m->context = fake_stack[fake_depth];
        m->id = fake_stack[fake_depth]->id;
        m->buffer = ++fake_device.buffers;
        m->file = -1;
        m->shared = owner->base;
        m->next = fake_device.memories;
        fake_device.memories = m;
    }
    m->opened++;
    *memory = m->base;
    return fake_leave(cudaSuccess);
}

cudaError_t cudaIpcCloseMemHandle(void *memory)
{
    cudaError_t error = fake_enter();
    struct fake_memory *m = fake_find_memory(memory);

    if (!m || !m->shared || m->base != memory)
        fake_wrong("memory is closed that was not opened");
    fake_need_context(m->context);
    if (error == cudaSuccess && --m->opened == 0)
        fake_drop_memory(memory);
    return fake_leave(error);
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags)
{
    cudaError_t error = fake_enter();
    struct fake_memory *m;

    fake_need_context(fake_stack[fake_depth]);
    if (flags != cudaHostRegisterPortable)
        fake_wrong("other contexts would not know");
    if (error == cudaSuccess && fake_find_memory(memory))
        error = cudaErrorHostMemoryAlreadyRegistered;
    if (error != cudaSuccess)
        return fake_leave(error);
    m = malloc(sizeof *m);
    if (!m)
        abort();
    *m = (struct fake_memory){
        .base = memory,
        .size = bytes,
        .pinned = true,
        .context = fake_stack[fake_depth],
        .id = fake_stack[fake_depth]->id,
        .buffer = ++fake_device.buffers,
        .file = -1,
        .registered = true,
        .next = fake_device.memories,
    };
    fake_device.memories = m;
    return fake_leave(cudaSuccess);
}

cudaError_t cudaHostUnregister(void *memory)
{
    cudaError_t error = fake_enter();
    struct fake_memory *m = fake_find_memory(memory);

    if (!m || !m->registered || m->base != memory)
        fake_wrong("memory is unlocked that was not locked");
    fake_need_context(m->context);
    if (error == cudaSuccess)
        fake_drop_memory(memory);
    return fake_leave(error);
}
