/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of the fake device for tests. */
#include "config.h"

#include "fake.h"

#include <stdlib.h>

#include "fake_state.h"

CUcontext fake_context_create(int device)
{
    CUcontext context = malloc(sizeof *context);

    if (!context)
        abort();
    *context =
        (struct CUctx_st){.device = device, .id = fake_device.contexts++};
    return context;
}

CUcontext fake_context_primary(int device)
{
    return &fake_device.primary[device];
}

void fake_context_set(CUcontext context)
{
    fake_stack[fake_depth] = context;
}

CUcontext fake_context_get(void)
{
    return fake_stack[fake_depth];
}

void fake_context_recreate(CUcontext context)
{
    pthread_mutex_lock(&fake_device.mutex);
    for (struct CUstream_st *s = fake_device.streams; s; s = s->next) {
        while (s->context == context && s->first)
            fake_stream_step(s);
    }
    context->id = fake_device.contexts++;
    pthread_mutex_unlock(&fake_device.mutex);
}

void fake_context_destroy(CUcontext context, CUcontext heir)
{
    fake_context_recreate(context);
    pthread_mutex_lock(&fake_device.mutex);
    context->dead = true;
    for (struct fake_memory *m = fake_device.memories; m; m = m->next) {
        if (m->context != context)
            continue;
        m->context = heir;
        m->id = heir->id;
        m->buffer = ++fake_device.buffers;
    }
    pthread_mutex_unlock(&fake_device.mutex);
}

void *fake_allocate(enum fake_kind kind, CUcontext context, size_t bytes)
{
    void *base;

    pthread_mutex_lock(&fake_device.mutex);
    base = fake_make_memory(kind, false, context, bytes);
    pthread_mutex_unlock(&fake_device.mutex);
    return base;
}

void fake_free(void *memory)
{
    pthread_mutex_lock(&fake_device.mutex);
    fake_drop_memory(memory);
    pthread_mutex_unlock(&fake_device.mutex);
}

void fake_write(void *to, const void *from, size_t bytes)
{
    pthread_mutex_lock(&fake_device.mutex);
    fake_copy_now(to, from, bytes);
    pthread_mutex_unlock(&fake_device.mutex);
}

void fake_read(void *to, const void *from, size_t bytes)
{
    fake_write(to, from, bytes);
}

void fake_fail(unsigned long n, cudaError_t error, bool sticky)
{
    pthread_mutex_lock(&fake_device.mutex);
    fake_device.calls = 0;
    fake_device.fail_at = n;
    fake_device.fail_with = error;
    fake_device.fail_sticky = sticky;
    fake_device.failed = false;
    pthread_mutex_unlock(&fake_device.mutex);
}

bool fake_failed(void)
{
    return fake_device.failed;
}

void fake_memory_full(bool is_full)
{
    fake_device.full = is_full;
}

void fake_driver_down(bool is_down)
{
    fake_device.down = is_down;
}

unsigned long fake_frees(void)
{
    return fake_device.frees;
}

unsigned long fake_attempts(void)
{
    return fake_device.attempts;
}

struct fake_counts fake_counts(void)
{
    return fake_device.counts;
}

unsigned long fake_pageable(void)
{
    return fake_device.pageable;
}

CUstreamCaptureMode fake_capture_mode(void)
{
    return fake_capture;
}

unsigned fake_shared(void)
{
    unsigned count = 0;

    pthread_mutex_lock(&fake_device.mutex);
    for (struct fake_memory *m = fake_device.memories; m; m = m->next)
        count += m->opened + m->registered;
    pthread_mutex_unlock(&fake_device.mutex);
    return count;
}
