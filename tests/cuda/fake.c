/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "fake.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/driver.h"
#include "cuda/kernels.h"
#include "emulate.h"

/* --- the state, under one lock ------------------------------------------- */

struct CUctx_st {
    int device;
    unsigned long long id;
};

struct memory {
    unsigned char *base;
    size_t size; /* whole pages */
    enum fake_kind kind;
    bool pinned;
    CUcontext context;
    unsigned long long id; /* the context's */
    int device;
    int file;           /* what both mappings show; -1: there is one only */
    const void *shared; /* the owner's, if this is the other mapping, ... */
    unsigned opened;    /* ... and how often it was opened */
    bool registered;    /* the program's, and only known here */
    struct memory *next;
};

/* What a stream has to do. */
struct work {
    enum { COPY, CLEAR, MAGNITUDE, ENCODE, DECODE } kind;
    unsigned char *to;
    const unsigned char *from;
    size_t n;
    struct aps_format format;
    struct aps_scaling scaling;
    unsigned flags;
    bool add;
    struct aps_cuda_result *result;
    void *staged; /* to be freed */
    struct work *next;
};

struct CUstream_st {
    CUcontext context;
    unsigned long long id;
    struct work *first;
    unsigned long queued;
    unsigned long done;
    struct CUstream_st *next;
};

struct CUevent_st {
    CUcontext context;
    struct CUstream_st *stream;
    unsigned long after; /* works of the stream before it */
    struct CUevent_st *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct memory *memories;
static struct CUstream_st *streams;
static struct CUevent_st *events; /* those of a dead context stay for ever */
static struct CUstream_st legacy; /* the program's, of all contexts */
static unsigned long long contexts = 1;
static struct CUctx_st primary[2] = {{0, 1001}, {1, 1002}};
static _Thread_local CUcontext stack[16];
static _Thread_local int depth; /* stack[depth] is current */
static _Thread_local CUstreamCaptureMode capture =
    CU_STREAM_CAPTURE_MODE_GLOBAL;

static unsigned long calls, fail_at, attempts;
static cudaError_t fail_with;
static bool fail_sticky, failed, full, down;
static uint64_t chance = 1;

static void wrong(const char *what)
{
    fprintf(stderr, "# the fake device: %s\n", what);
    abort();
}

static unsigned draw(void)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance >> 33);
}

static struct memory *find_memory(const void *pointer)
{
    struct memory *m = memories;
    const unsigned char *p = pointer;

    while (m && !(p >= m->base && p < m->base + m->size))
        m = m->next;
    return m;
}

/* All device memory open, or shut. */
static void open_memory(bool open)
{
    for (struct memory *m = memories; m; m = m->next) {
        if (!m->pinned &&
            mprotect(m->base, m->size,
                     open ? PROT_READ | PROT_WRITE : PROT_NONE) < 0)
            wrong("mprotect");
    }
}

static void do_work(const struct work *w)
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
                       NULL, false, w->to, w->result);
        break;
    case DECODE:
        emulate_decode(&w->format, w->from, w->n, w->scaling, w->flags, w->add,
                       (void *)w->to);
        break;
    }
    open_memory(false);
}

static void stream_step(struct CUstream_st *stream)
{
    struct work *w = stream->first;

    stream->first = w->next;
    stream->done++;
    do_work(w);
    free(w->staged);
    free(w);
}

/* Some stream may go on, at any call. */
static void by_chance(void)
{
    for (struct CUstream_st *s = streams; s; s = s->next) {
        if (s->first && draw() % 8 == 0)
            stream_step(s);
    }
    if (legacy.first && draw() % 8 == 0)
        stream_step(&legacy);
}

/* Every call begins here, with the lock; the error that it has to return. */
static cudaError_t enter(void)
{
    pthread_mutex_lock(&mutex);
    by_chance();
    calls++;
    if (fail_at > 0 && (calls == fail_at || (fail_sticky && calls > fail_at))) {
        failed = true;
        return fail_with;
    }
    return cudaSuccess;
}

static cudaError_t leave(cudaError_t error)
{
    pthread_mutex_unlock(&mutex);
    return error;
}

static void need_context(CUcontext context)
{
    if (stack[depth] != context)
        wrong("another context is current than the one that this belongs to");
    if (capture != CU_STREAM_CAPTURE_MODE_RELAXED)
        wrong("a stream capture of the program would see this");
}

/* A kernel reaches what is its context's, its device's, or everybody's. */
static void need_reach(CUcontext context, const void *pointer)
{
    const struct memory *m = find_memory(pointer);

    if (!m || m->registered)
        wrong("a kernel has a pointer to the program's memory");
    if (m->kind == FAKE_MANAGED || m->pinned)
        return;
    if (m->kind == FAKE_POOL && !m->shared && m->device == context->device)
        return;
    if (m->context != context)
        wrong("a kernel has a pointer to another context's memory");
}

static cudaError_t enqueue(struct CUstream_st *stream, struct work work)
{
    struct work *w = malloc(sizeof *w), **last = &stream->first;

    if (!w)
        abort();
    need_context(stream == &legacy ? stack[depth] : stream->context);
    if (stream != &legacy && stream->id != stream->context->id)
        wrong("a stream of a context that is gone");
    if (work.kind != COPY && work.kind != CLEAR && work.n > 0) {
        if (work.kind != MAGNITUDE)
            need_reach(stream->context, work.to);
        need_reach(stream->context, work.from);
    }
    *w = work;
    w->next = NULL;
    while (*last)
        last = &(*last)->next;
    *last = w;
    stream->queued++;
    return cudaSuccess;
}

/* --- what tests say ------------------------------------------------------ */

CUcontext fake_context_create(int device)
{
    CUcontext context = malloc(sizeof *context);

    if (!context)
        abort();
    *context = (struct CUctx_st){device, contexts++};
    return context;
}

CUcontext fake_context_primary(int device)
{
    return &primary[device];
}

void fake_context_set(CUcontext context)
{
    stack[depth] = context;
}

CUcontext fake_context_get(void)
{
    return stack[depth];
}

void fake_context_recreate(CUcontext context)
{
    pthread_mutex_lock(&mutex);
    for (struct CUstream_st *s = streams; s; s = s->next) {
        while (s->context == context && s->first)
            stream_step(s);
    }
    context->id = contexts++;
    pthread_mutex_unlock(&mutex);
}

static void *allocate(enum fake_kind kind, bool pinned, CUcontext context,
                      size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct memory *m = malloc(sizeof *m);
    int file = memfd_create("fake", MFD_CLOEXEC);
    void *base;

    bytes = (bytes + page - 1) / page * page + page;
    if (!m || file < 0 || ftruncate(file, (off_t)bytes) < 0)
        abort();
    base = mmap(NULL, bytes, pinned ? PROT_READ | PROT_WRITE : PROT_NONE,
                MAP_SHARED, file, 0);
    if (base == MAP_FAILED)
        abort();
    *m = (struct memory){
        .base = base,
        .size = bytes,
        .kind = kind,
        .pinned = pinned,
        .context = context,
        .id = context->id,
        .device = context->device,
        .file = file,
        .next = memories,
    };
    memories = m;
    return base;
}

void *fake_allocate(enum fake_kind kind, CUcontext context, size_t bytes)
{
    void *base;

    pthread_mutex_lock(&mutex);
    base = allocate(kind, false, context, bytes);
    pthread_mutex_unlock(&mutex);
    return base;
}

static void release(void *memory)
{
    for (struct memory **m = &memories; *m; m = &(*m)->next) {
        struct memory *gone = *m;

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
    wrong("memory is freed that is none");
}

void fake_free(void *memory)
{
    pthread_mutex_lock(&mutex);
    release(memory);
    pthread_mutex_unlock(&mutex);
}

static void copy_now(void *to, const void *from, size_t bytes)
{
    open_memory(true);
    memcpy(to, from, bytes);
    open_memory(false);
}

void fake_write(void *to, const void *from, size_t bytes)
{
    pthread_mutex_lock(&mutex);
    copy_now(to, from, bytes);
    pthread_mutex_unlock(&mutex);
}

void fake_read(void *to, const void *from, size_t bytes)
{
    fake_write(to, from, bytes);
}

void fake_fail(unsigned long n, cudaError_t error, bool sticky)
{
    pthread_mutex_lock(&mutex);
    calls = 0;
    fail_at = n;
    fail_with = error;
    fail_sticky = sticky;
    failed = false;
    pthread_mutex_unlock(&mutex);
}

bool fake_failed(void)
{
    return failed;
}

void fake_memory_full(bool is_full)
{
    full = is_full;
}

void fake_driver_down(bool is_down)
{
    down = is_down;
}

unsigned long fake_attempts(void)
{
    return attempts;
}

CUstreamCaptureMode fake_capture_mode(void)
{
    return capture;
}

/* --- the runtime --------------------------------------------------------- */

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    cudaError_t error = enter();

    attempts++;
    if (error == cudaSuccess && full)
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess) {
        need_context(stack[depth]);
        *memory = allocate(FAKE_DEVICE, false, stack[depth], bytes);
    }
    return leave(error);
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    cudaError_t error = enter();

    (void)flags;
    if (error == cudaSuccess)
        *memory = allocate(FAKE_DEVICE, true, stack[depth], bytes);
    return leave(error);
}

/* Waits for the device, as far as it knows what that has to do. */
static cudaError_t free_memory(void *memory)
{
    cudaError_t error = enter();
    const struct memory *m = memory ? find_memory(memory) : NULL;

    if (error != cudaSuccess || !memory)
        return leave(error);
    if (!m || m->shared || m->registered)
        wrong("memory is freed that was not allocated");
    need_context(m->context);
    for (struct CUstream_st *s = streams; s; s = s->next) {
        for (const struct work *w = s->first; w; w = w->next) {
            if (find_memory(w->to) == m || find_memory(w->from) == m)
                wrong("memory is freed while a stream has work");
        }
    }
    while (legacy.first)
        stream_step(&legacy);
    release(memory);
    return leave(cudaSuccess);
}

cudaError_t cudaFree(void *memory)
{
    return free_memory(memory);
}

cudaError_t cudaFreeHost(void *memory)
{
    return free_memory(memory);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    cudaError_t error = enter();
    struct CUstream_st *s;

    if (error != cudaSuccess)
        return leave(error);
    s = calloc(1, sizeof *s);
    if (!s || flags != cudaStreamNonBlocking)
        wrong("the stream waits for the program's");
    s->context = stack[depth];
    s->id = s->context->id;
    s->next = streams;
    streams = s;
    *stream = s;
    return leave(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    pthread_mutex_lock(&mutex);
    while (stream->first) /* which goes on nevertheless */
        stream_step(stream);
    for (struct CUstream_st **s = &streams; *s; s = &(*s)->next) {
        if (*s == stream) {
            *s = stream->next;
            break;
        }
    }
    free(stream);
    return leave(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t error = enter();

    if (!stream)
        stream = &legacy;
    else
        need_context(stream->context);
    while (error == cudaSuccess && stream->first)
        stream_step(stream);
    return leave(error);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    cudaError_t error = enter();

    (void)flags;
    if (error != cudaSuccess)
        return leave(error);
    *event = calloc(1, sizeof **event);
    if (!*event)
        abort();
    (*event)->context = stack[depth];
    (*event)->next = events;
    events = *event;
    return leave(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    pthread_mutex_lock(&mutex);
    for (struct CUevent_st **e = &events; *e; e = &(*e)->next) {
        if (*e == event) {
            *e = event->next;
            break;
        }
    }
    free(event);
    return leave(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t error = enter();

    need_context(stream->context);
    if (error == cudaSuccess) {
        event->stream = stream;
        event->after = stream->queued;
    }
    return leave(error);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t error = enter();

    need_context(event->context);
    while (error == cudaSuccess && event->stream &&
           event->stream->done < event->after)
        stream_step(event->stream);
    return leave(error);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t error = enter();

    (void)kind;
    if (!find_memory(to) || !find_memory(from))
        wrong("a copy of memory that is not pinned does not overlap");
    if (error == cudaSuccess)
        error = enqueue(
            stream,
            (struct work){.kind = COPY, .to = to, .from = from, .n = bytes});
    return leave(error);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream)
{
    cudaError_t error = enter();

    if (value != 0)
        wrong("not 0");
    if (error == cudaSuccess)
        error =
            enqueue(stream, (struct work){.kind = CLEAR, .to = to, .n = bytes});
    return leave(error);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       enum cudaMemcpyKind kind)
{
    cudaError_t error = enter();

    (void)kind;
    need_context(stack[depth]);
    if (error != cudaSuccess)
        return leave(error);
    if (find_memory(to)) { /* returns when it has read all */
        void *staged = malloc(bytes);

        if (!staged)
            abort();
        memcpy(staged, from, bytes);
        error = enqueue(&legacy, (struct work){.kind = COPY,
                                               .to = to,
                                               .from = staged,
                                               .n = bytes,
                                               .staged = staged});
    } else {
        while (legacy.first)
            stream_step(&legacy);
        copy_now(to, from, bytes);
    }
    return leave(error);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    cudaError_t error = enter();

    (void)value;
    if (error == cudaSuccess)
        error = enqueue(&legacy,
                        (struct work){.kind = CLEAR, .to = to, .n = bytes});
    return leave(error);
}

/* --- other processes, and memory of the program's ------------------------ */

/* What a handle says: the whole allocation. */
struct handle {
    void *base;
    unsigned long long magic;
};
#define MAGIC 0x1234567890abcdefull

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory)
{
    cudaError_t error = enter();
    struct memory *m = find_memory(memory);
    struct handle h = {.magic = MAGIC};

    if (error != cudaSuccess)
        return leave(error);
    if (!m || m->kind != FAKE_DEVICE || m->pinned || m->shared)
        return leave(cudaErrorInvalidValue);
    need_context(m->context);
    h.base = m->base;
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &h, sizeof h);
    return leave(cudaSuccess);
}

/* What it is here is never said: its own process is this one. */
cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle,
                                 unsigned flags)
{
    cudaError_t error = enter();
    struct memory *owner, *m;
    struct handle h;

    memcpy(&h, &handle, sizeof h);
    if (flags != cudaIpcMemLazyEnablePeerAccess)
        wrong("another device's memory would not be reached");
    need_context(stack[depth]);
    owner = h.magic == MAGIC ? find_memory(h.base) : NULL;
    if (error == cudaSuccess && !owner)
        error = cudaErrorInvalidResourceHandle;
    if (error != cudaSuccess)
        return leave(error);
    for (m = memories; m; m = m->next) {
        if (m->shared == owner->base && m->context == stack[depth])
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
        m->kind = FAKE_POOL; /* the driver does not say which context's */
        m->context = stack[depth];
        m->id = stack[depth]->id;
        m->file = -1;
        m->shared = owner->base;
        m->next = memories;
        memories = m;
    }
    m->opened++;
    *memory = m->base;
    return leave(cudaSuccess);
}

cudaError_t cudaIpcCloseMemHandle(void *memory)
{
    cudaError_t error = enter();
    struct memory *m = find_memory(memory);

    if (!m || !m->shared || m->base != memory)
        wrong("memory is closed that was not opened");
    need_context(m->context);
    if (error == cudaSuccess && --m->opened == 0)
        release(memory);
    return leave(error);
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags)
{
    cudaError_t error = enter();
    struct memory *m;

    need_context(stack[depth]);
    if (flags != cudaHostRegisterPortable)
        wrong("other contexts would not know");
    if (error == cudaSuccess && find_memory(memory))
        error = cudaErrorHostMemoryAlreadyRegistered;
    if (error != cudaSuccess)
        return leave(error);
    m = malloc(sizeof *m);
    if (!m)
        abort();
    *m = (struct memory){
        .base = memory,
        .size = bytes,
        .pinned = true,
        .context = stack[depth],
        .id = stack[depth]->id,
        .file = -1,
        .registered = true,
        .next = memories,
    };
    memories = m;
    return leave(cudaSuccess);
}

cudaError_t cudaHostUnregister(void *memory)
{
    cudaError_t error = enter();
    struct memory *m = find_memory(memory);

    if (!m || !m->registered || m->base != memory)
        wrong("memory is unlocked that was not locked");
    need_context(m->context);
    if (error == cudaSuccess)
        release(memory);
    return leave(error);
}

unsigned fake_shared(void)
{
    unsigned count = 0;

    pthread_mutex_lock(&mutex);
    for (struct memory *m = memories; m; m = m->next)
        count += m->opened + m->registered;
    pthread_mutex_unlock(&mutex);
    return count;
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

static cudaError_t start(cudaStream_t stream, struct work work)
{
    cudaError_t error = enter();

    if (error == cudaSuccess)
        error = enqueue(stream, work);
    return leave(error);
}

cudaError_t aps_cuda_kernel_magnitude(const float *x, size_t n,
                                      struct aps_cuda_result *result,
                                      cudaStream_t stream)
{
    return start(stream, (struct work){.kind = MAGNITUDE,
                                       .from = (const void *)x,
                                       .n = n,
                                       .result = result});
}

cudaError_t aps_cuda_kernel_encode(
    const struct aps_format *format, const float *x, size_t n,
    struct aps_scaling scaling, const struct aps_cast_options *options,
    bool stats, void *wire, struct aps_cuda_result *result, cudaStream_t stream)
{
    if (options || stats)
        wrong("options or statistics");
    return start(stream, (struct work){.kind = ENCODE,
                                       .to = wire,
                                       .from = (const void *)x,
                                       .n = n,
                                       .format = *format,
                                       .scaling = scaling,
                                       .result = result});
}

cudaError_t aps_cuda_kernel_decode(const struct aps_format *format,
                                   const void *wire, size_t n,
                                   struct aps_scaling scaling, unsigned flags,
                                   bool add, float *x, cudaStream_t stream)
{
    return start(stream, (struct work){.kind = DECODE,
                                       .to = (void *)x,
                                       .from = wire,
                                       .n = n,
                                       .format = *format,
                                       .scaling = scaling,
                                       .flags = flags,
                                       .add = add});
}

/* --- the driver ---------------------------------------------------------- */

static CUresult pointer_attributes(unsigned count, CUpointer_attribute *which,
                                   void **values, CUdeviceptr pointer)
{
    struct memory *m;

    if (down)
        return CUDA_ERROR_DEINITIALIZED;
    pthread_mutex_lock(&mutex);
    m = find_memory((const void *)(uintptr_t)pointer);
    for (unsigned i = 0; i < count && m; i++) {
        switch (which[i]) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *(unsigned *)values[i] =
                m->pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
            break;
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            *(CUcontext *)values[i] = m->kind == FAKE_POOL ? NULL : m->context;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            *(int *)values[i] = m->device;
            break;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            *(unsigned *)values[i] = m->kind == FAKE_MANAGED;
            break;
        default:
            wrong("an attribute that is not known here");
        }
    }
    pthread_mutex_unlock(&mutex);
    return CUDA_SUCCESS;
}

static CUresult address_range(CUdeviceptr *base, size_t *size,
                              CUdeviceptr pointer)
{
    struct memory *m;

    pthread_mutex_lock(&mutex);
    m = find_memory((const void *)(uintptr_t)pointer);
    if (m) {
        *base = (CUdeviceptr)(uintptr_t)m->base;
        *size = m->size;
    }
    pthread_mutex_unlock(&mutex);
    return m ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static CUresult context_current(CUcontext *context)
{
    *context = stack[depth];
    return CUDA_SUCCESS;
}

static CUresult context_push(CUcontext context)
{
    if (depth == 15)
        wrong("contexts are pushed and not popped");
    stack[++depth] = context;
    return CUDA_SUCCESS;
}

static CUresult context_pop(CUcontext *context)
{
    if (depth == 0)
        wrong("a context is popped that was not pushed");
    *context = stack[depth--];
    return CUDA_SUCCESS;
}

static CUresult context_device(CUdevice *device)
{
    *device = stack[depth]->device;
    return CUDA_SUCCESS;
}

static CUresult context_id(CUcontext context, unsigned long long *id)
{
    *id = context->id;
    return CUDA_SUCCESS;
}

static CUresult primary_retain(CUcontext *context, CUdevice device)
{
    *context = &primary[device];
    return CUDA_SUCCESS;
}

static CUresult capture_mode(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode before = capture;

    capture = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

struct aps_cuda_driver aps_cuda_driver = {
    .pointer_attributes = pointer_attributes,
    .address_range = address_range,
    .context_current = context_current,
    .context_push = context_push,
    .context_pop = context_pop,
    .context_device = context_device,
    .context_id = context_id,
    .primary_retain = primary_retain,
    .capture_mode = capture_mode,
};

int aps_cuda_driver_open(char *cause, size_t size)
{
    (void)cause;
    (void)size;
    return 0;
}

const char *aps_cuda_driver_error(CUresult result)
{
    return result == CUDA_ERROR_DEINITIALIZED ? "driver shutting down"
                                              : "an error of the driver";
}
