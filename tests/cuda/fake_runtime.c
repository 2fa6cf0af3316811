/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA's runtime and the kernels of cuda/, for the fake device. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fake_state.h"

/* --- the runtime --------------------------------------------------------- */

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    cudaError_t error = fake_enter();

    fake_device.attempts++;
    if (error == cudaSuccess && fake_device.full)
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess) {
        fake_need_context(fake_stack[fake_depth]);
        *memory =
            fake_make_memory(FAKE_DEVICE, false, fake_stack[fake_depth], bytes);
    }
    return fake_leave(error);
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    cudaError_t error = fake_enter();

    (void)flags;
    if (error == cudaSuccess)
        *memory =
            fake_make_memory(FAKE_DEVICE, true, fake_stack[fake_depth], bytes);
    return fake_leave(error);
}

/* Waits for the device, as far as it knows the device's work. */
static cudaError_t free_memory(void *memory)
{
    cudaError_t error = fake_enter();
    const struct fake_memory *m = memory ? fake_find_memory(memory) : NULL;

    if (error != cudaSuccess || !memory)
        return fake_leave(error);
    if (!m || m->shared || m->registered)
        fake_wrong("memory is freed that was not allocated");
    fake_need_context(m->context);
    for (struct CUstream_st *s = fake_device.streams; s; s = s->next) {
        for (const struct fake_work *w = s->first; w; w = w->next) {
            if (fake_find_memory(w->to) == m || fake_find_memory(w->from) == m)
                fake_wrong("memory is freed while a stream has work");
        }
    }
    fake_device.frees++;
    fake_drop_memory(memory);
    return fake_leave(cudaSuccess);
}

cudaError_t cudaFree(void *memory)
{
    return free_memory(memory);
}

cudaError_t cudaFreeHost(void *memory)
{
    return free_memory(memory);
}

#define GREATEST (-5) /* priority */

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    cudaError_t error = fake_enter();

    *least = 0;
    *greatest = GREATEST;
    return fake_leave(error);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags,
                                         int priority)
{
    cudaError_t error = fake_enter();
    struct CUstream_st *s;

    if (error != cudaSuccess)
        return fake_leave(error);
    s = calloc(1, sizeof *s);
    if (!s || flags != cudaStreamNonBlocking)
        fake_wrong("the stream waits for the legacy stream");
    if (priority != GREATEST)
        fake_wrong("the stream has not the highest priority");
    s->context = fake_stack[fake_depth];
    s->id = s->context->id;
    s->next = fake_device.streams;
    fake_device.streams = s;
    *stream = s;
    return fake_leave(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    pthread_mutex_lock(&fake_device.mutex);
    while (stream->first) /* the work goes on nevertheless */
        fake_stream_step(stream);
    for (struct CUstream_st **s = &fake_device.streams; *s; s = &(*s)->next) {
        if (*s == stream) {
            *s = stream->next;
            break;
        }
    }
    free(stream);
    return fake_leave(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = fake_enter();

    fake_need_stream(stream);
    fake_device.counts.waits++;
    while (error == cudaSuccess && stream->first)
        fake_stream_step(stream);
    return fake_leave(error);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    cudaError_t error = fake_enter();

    (void)flags;
    if (error != cudaSuccess)
        return fake_leave(error);
    *event = calloc(1, sizeof **event);
    if (!*event)
        abort();
    (*event)->context = fake_stack[fake_depth];
    (*event)->next = fake_device.events;
    fake_device.events = *event;
    return fake_leave(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    pthread_mutex_lock(&fake_device.mutex);
    for (struct CUevent_st **e = &fake_device.events; *e; e = &(*e)->next) {
        if (*e == event) {
            *e = event->next;
            break;
        }
    }
    free(event);
    return fake_leave(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error = fake_enter();

    fake_need_stream(stream);
    if (error == cudaSuccess) {
        event->stream = stream;
        event->after = stream->queued;
    }
    return fake_leave(error);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t error = fake_enter();

    fake_need_context(event->context);
    fake_device.counts.waits++;
    while (error == cudaSuccess && event->stream &&
           event->stream->done < event->after)
        fake_stream_step(event->stream);
    return fake_leave(error);
}

/* Makes a copy that does not overlap: returns when it has read, or written, all
 * of the program's memory. */
static cudaError_t copy_pageable(cudaStream_t stream, void *to,
                                 const void *from, size_t bytes)
{
    void *staged;

    fake_device.pageable++;
    if (!fake_find_memory(to)) {
        fake_device.counts.waits++;
        while (stream->first)
            fake_stream_step(stream);
        fake_copy_now(to, from, bytes);
        return cudaSuccess;
    }
    staged = malloc(bytes);
    if (!staged)
        abort();
    memcpy(staged, from, bytes);
    return fake_enqueue(stream, (struct fake_work){.kind = COPY,
                                                   .to = to,
                                                   .from = staged,
                                                   .n = bytes,
                                                   .staged = staged});
}

/* The memory must belong to the stream's context, or to no context. */
static void need_own(const void *memory, cudaStream_t stream)
{
    const struct fake_memory *m = fake_find_memory(memory);

    if (m && m->kind == FAKE_DEVICE && !m->pinned &&
        m->context != stream->context)
        fake_wrong("a copy between contexts takes cuMemcpyPeerAsync");
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t error = fake_enter();

    (void)kind;
    fake_need_stream(stream);
    need_own(to, stream);
    need_own(from, stream);
    if (error == cudaSuccess && fake_find_memory(to) && fake_find_memory(from))
        error = fake_enqueue(
            stream, (struct fake_work){
                        .kind = COPY, .to = to, .from = from, .n = bytes});
    else if (error == cudaSuccess)
        error = copy_pageable(stream, to, from, bytes);
    return fake_leave(error);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream)
{
    cudaError_t error = fake_enter();

    if (value != 0)
        fake_wrong("not 0");
    if (error == cudaSuccess)
        error = fake_enqueue(
            stream, (struct fake_work){.kind = CLEAR, .to = to, .n = bytes});
    return fake_leave(error);
}

/* The legacy stream may have kernels of the program that wait for the result of
 * the call; and it may be captured. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       enum cudaMemcpyKind kind)
{
    (void)to;
    (void)from;
    (void)bytes;
    (void)kind;
    fake_wrong("cudaMemcpy uses the legacy stream");
    return cudaErrorUnknown;
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    (void)to;
    (void)value;
    (void)bytes;
    fake_wrong("cudaMemset uses the legacy stream");
    return cudaErrorUnknown;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorMemoryAllocation ? "out of memory" : "an error";
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

/* --- the kernels --------------------------------------------------------- */

static cudaError_t start(cudaStream_t stream, struct fake_work work)
{
    cudaError_t error = fake_enter();

    fake_need_stream(stream);
    if (stream->context->loaded != stream->context->id)
        fake_wrong("the first launch loads a kernel, and waits for others");
    if (error == cudaSuccess)
        error = fake_enqueue(stream, work);
    return fake_leave(error);
}

cudaError_t aps_cuda_kernels_load(void)
{
    cudaError_t error = fake_enter();

    fake_need_context(fake_stack[fake_depth]);
    fake_stack[fake_depth]->loaded = fake_stack[fake_depth]->id;
    return fake_leave(error);
}

cudaError_t aps_cuda_kernel_magnitude(const float *x, size_t n,
                                      struct aps_cuda_result *result,
                                      cudaStream_t stream)
{
    return start(stream, (struct fake_work){.kind = MAGNITUDE,
                                            .from = (const void *)x,
                                            .n = n,
                                            .result = result});
}

cudaError_t aps_cuda_kernel_encode(const struct aps_format *format,
                                   const float *x, size_t n,
                                   struct aps_scaling scaling,
                                   const struct aps_cast_options *options,
                                   const float *max, bool stats, void *wire,
                                   struct aps_cuda_result *result,
                                   cudaStream_t stream)
{
    return start(stream, (struct fake_work){.kind = ENCODE,
                                            .to = wire,
                                            .from = (const void *)x,
                                            .n = n,
                                            .format = *format,
                                            .scaling = scaling,
                                            .options = *options,
                                            .has_max = max != NULL,
                                            .max = max ? *max : 0,
                                            .stats = stats,
                                            .result = result});
}

cudaError_t aps_cuda_kernel_decode(const struct aps_format *format,
                                   const void *wire, size_t n,
                                   struct aps_scaling scaling, unsigned flags,
                                   bool add, float *x, cudaStream_t stream)
{
    return start(stream, (struct fake_work){.kind = DECODE,
                                            .to = (void *)x,
                                            .from = wire,
                                            .n = n,
                                            .format = *format,
                                            .scaling = scaling,
                                            .flags = flags,
                                            .add = add});
}

cudaError_t aps_cuda_kernel_convert(enum aps_element element, bool narrow,
                                    const void *from, size_t n, void *to,
                                    cudaStream_t stream)
{
    return start(stream, (struct fake_work){.kind = CONVERT,
                                            .to = to,
                                            .from = from,
                                            .n = n,
                                            .element = element,
                                            .narrow = narrow});
}
