/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "fake_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulate.h"

struct fake_device fake_device = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .contexts = 1,
    .primary = {{.device = 0, .id = 1001}, {.device = 1, .id = 1002}},
};
_Thread_local CUcontext fake_stack[FAKE_DEPTH];
_Thread_local int fake_depth;
_Thread_local CUstreamCaptureMode fake_capture = CU_STREAM_CAPTURE_MODE_GLOBAL;
static uint64_t chance = 1;

void fake_wrong(const char *what)
{
    fprintf(stderr, "# the fake device: %s\n", what);
    abort();
}

static unsigned draw(void)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance >> 33);
}

struct fake_memory *fake_find_memory(const void *pointer)
{
    struct fake_memory *m = fake_device.memories;
    const unsigned char *p = pointer;

    while (m && !(p >= m->base && p < m->base + m->size))
        m = m->next;
    return m;
}

/* Makes all device memory accessible, or inaccessible. */
static void open_memory(bool open)
{
    for (struct fake_memory *m = fake_device.memories; m; m = m->next) {
        if (!m->pinned &&
            mprotect(m->base, m->size,
                     open ? PROT_READ | PROT_WRITE : PROT_NONE) < 0)
            fake_wrong("mprotect");
    }
}

static void do_work(const struct fake_work *w)
{
    open_memory(true);
    switch (w->kind) {
    case COPY:
        memcpy(w->to, w->from, w->n);
        break;
    case CLEAR:
        memset(w->to, 0, w->n);
        break;
    case MAGNITUDE:
        emulate_magnitude((const void *)w->from, w->n, w->result);
        break;
    case ENCODE:
        emulate_encode(&w->format, (const void *)w->from, w->n, w->scaling,
                       &w->options, w->has_max ? &w->max : NULL, w->stats,
                       w->to, w->result);
        break;
    case DECODE:
        emulate_decode(&w->format, w->from, w->n, w->scaling, w->flags, w->add,
                       (void *)w->to);
        break;
    case CONVERT:
        emulate_convert(w->element, w->narrow, w->from, w->n, w->to);
        break;
    }
    open_memory(false);
}

void fake_stream_step(struct CUstream_st *stream)
{
    struct fake_work *w = stream->first;

    stream->first = w->next;
    stream->done++;
    do_work(w);
    free(w->staged);
    free(w);
}

/* Any stream may progress at any call. */
static void by_chance(void)
{
    for (struct CUstream_st *s = fake_device.streams; s; s = s->next) {
        if (s->first && draw() % 8 == 0)
            fake_stream_step(s);
    }
}

cudaError_t fake_enter(void)
{
    pthread_mutex_lock(&fake_device.mutex);
    by_chance();
    fake_device.calls++;
    if (fake_device.fail_at > 0 &&
        (fake_device.calls == fake_device.fail_at ||
         (fake_device.fail_sticky &&
          fake_device.calls > fake_device.fail_at))) {
        fake_device.failed = true;
        return fake_device.fail_with;
    }
    return cudaSuccess;
}

cudaError_t fake_leave(cudaError_t error)
{
    pthread_mutex_unlock(&fake_device.mutex);
    return error;
}

void fake_need_context(CUcontext context)
{
    if (fake_stack[fake_depth] != context)
        fake_wrong(
            "another context is current than the one that this belongs to");
    if (fake_capture != CU_STREAM_CAPTURE_MODE_RELAXED)
        fake_wrong("a stream capture of the program would see this");
}

void fake_need_stream(const struct CUstream_st *stream)
{
    if ((uintptr_t)stream <= 2)
        fake_wrong("the legacy stream, or the thread's, is used");
    fake_need_context(stream->context);
    if (stream->id != stream->context->id)
        fake_wrong("a stream of a context that is gone");
}

/* A kernel reaches memory of its context, of its device, and shared memory. */
static void need_reach(CUcontext context, const void *pointer)
{
    const struct fake_memory *m = fake_find_memory(pointer);

    if (!m || m->registered)
        fake_wrong("a kernel has a pointer to the program's memory");
    if (m->kind == FAKE_MANAGED || m->pinned)
        return;
    if (m->kind == FAKE_POOL && !m->shared && m->device == context->device)
        return;
    if (m->context != context)
        fake_wrong("a kernel has a pointer to another context's memory");
}

cudaError_t fake_enqueue(struct CUstream_st *stream, struct fake_work work)
{
    struct fake_work *w = malloc(sizeof *w), **last = &stream->first;

    if (!w)
        abort();
    fake_need_stream(stream);
    if (work.kind != COPY && work.kind != CLEAR && work.n > 0) {
        if (work.kind != MAGNITUDE)
            need_reach(stream->context, work.to);
        need_reach(stream->context, work.from);
    }
    if (work.kind == COPY || work.kind == CLEAR)
        fake_device.counts.copies++;
    else
        fake_device.counts.kernels++;
    *w = work;
    w->next = NULL;
    while (*last)
        last = &(*last)->next;
    *last = w;
    stream->queued++;
    return cudaSuccess;
}

void *fake_make_memory(enum fake_kind kind, bool pinned, CUcontext context,
                       size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct fake_memory *m = malloc(sizeof *m);
    int file = memfd_create("fake", MFD_CLOEXEC);
    void *base;

    bytes = (bytes + page - 1) / page * page + page;
    if (!m || file < 0 || ftruncate(file, (off_t)bytes) < 0)
        abort();
    base = mmap(NULL, bytes, pinned ? PROT_READ | PROT_WRITE : PROT_NONE,
                MAP_SHARED, file, 0);
    if (base == MAP_FAILED)
        abort();
    *m = (struct fake_memory){
        .base = base,
        .size = bytes,
        .kind = kind,
        .pinned = pinned,
        .context = context,
        .id = context->id,
        .buffer = ++fake_device.buffers,
        .device = context->device,
        .file = file,
        .next = fake_device.memories,
    };
    fake_device.memories = m;
    return base;
}

void fake_drop_memory(void *memory)
{
    for (struct fake_memory **m = &fake_device.memories; *m; m = &(*m)->next) {
        struct fake_memory *gone = *m;

        if (gone->base != memory)
            continue;
        *m = gone->next;
        if (!gone->registered)
            munmap(gone->base, gone->size);
        if (gone->file >= 0)
            close(gone->file);
        free(gone);
        return;
    }
    fake_wrong("memory is freed that is not allocated");
}

void fake_copy_now(void *to, const void *from, size_t bytes)
{
    open_memory(true);
    memcpy(to, from, bytes);
    open_memory(false);
}
