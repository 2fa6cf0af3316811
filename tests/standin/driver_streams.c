/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The streams of the stand-in for CUDA's driver. A copy in a stream is done
 * when the host waits for the stream, and reads or writes the host's memory
 * only then. The legacy stream is the program's: each use of it is counted, and
 * invalidates the current capture. A short copy to the device in it ends after
 * it has returned, unless the memory has SYNC_MEMOPS.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "driver_state.h"

#define GREATEST (-5) /* priority */
#define RELAXED 2     /* capture mode */

struct copy {
    struct copy *next;
    void *to;
    const void *from;
    size_t bytes;
};

struct stream {
    struct context *context;
    unsigned long long id;
    struct copy *first;
};

static atomic_long legacy_uses;
static _Thread_local int capture_mode; /* GLOBAL */

/* One capture at a time, in GLOBAL mode. */
enum { NONE, VALID, INVALIDATED };
static atomic_int capture;

/* --- copies that end later ------------------------------------------------ */

#define SHORT ((size_t)64 * 1024)

static struct {
    pthread_mutex_t lock;
    void *to;
    size_t bytes;
    char from[SHORT];
} later = {.lock = PTHREAD_MUTEX_INITIALIZER};

void driver_end_copies(void)
{
    pthread_mutex_lock(&later.lock);
    if (later.bytes > 0)
        memcpy(later.to, later.from, later.bytes);
    later.bytes = 0;
    pthread_mutex_unlock(&later.lock);
}

static void put_later(void *to, const void *from, size_t bytes)
{
    pthread_mutex_lock(&later.lock);
    later.to = to;
    later.bytes = bytes;
    memcpy(later.from, from, bytes);
    pthread_mutex_unlock(&later.lock);
}

/* --- captures ------------------------------------------------------------ */

static int disturb(int result)
{
    int valid = VALID;

    if (atomic_load(&capture) == NONE)
        return SUCCESS;
    atomic_compare_exchange_strong(&capture, &valid, INVALIDATED);
    return result;
}

int driver_use_legacy(void)
{
    atomic_fetch_add(&legacy_uses, 1);
    driver_end_copies();
    return disturb(CAPTURE_IMPLICIT);
}

int driver_be_unsafe(void)
{
    return capture_mode == RELAXED ? SUCCESS : disturb(CAPTURE_UNSUPPORTED);
}

long standin_legacy_uses(void)
{
    return atomic_load(&legacy_uses);
}

int cuThreadExchangeStreamCaptureMode(int *mode)
{
    const int theirs = capture_mode;

    capture_mode = *mode;
    *mode = theirs;
    return SUCCESS;
}

int cuStreamBeginCapture_v2(CUstream stream, int mode)
{
    int none = NONE;

    (void)stream;
    if (mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
        atomic_compare_exchange_strong(&capture, &none, VALID))
        return SUCCESS;
    return INVALID_VALUE;
}

int cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    (void)stream;
    *graph = NULL;
    return atomic_exchange(&capture, NONE) == VALID ? SUCCESS
                                                    : CAPTURE_INVALIDATED;
}

/* --- streams ------------------------------------------------------------- */

static bool is_default(CUstream stream)
{
    return (uintptr_t)stream <= 2;
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = GREATEST;
    return driver_current() ? SUCCESS : INVALID_CONTEXT;
}

int cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    struct stream *new = calloc(1, sizeof *new);

    if (flags != CU_STREAM_NON_BLOCKING)
        standin_misuse("the stream waits for the legacy stream");
    if (priority != GREATEST)
        standin_misuse("the stream has not the highest priority");
    if (!new)
        return OUT_OF_MEMORY;
    if (!driver_current()) {
        free(new);
        return INVALID_CONTEXT;
    }
    new->context = driver_current();
    new->id = new->context->id;
    *stream = new;
    return SUCCESS;
}

static int step(struct stream *stream)
{
    struct copy *done = stream->first;

    stream->first = done->next;
    memcpy(done->to, done->from, done->bytes);
    free(done);
    return SUCCESS;
}

/* The stream's context must be current: streams of others may be gone. */
static void need_stream(const struct stream *stream)
{
    if (driver_current() != stream->context ||
        driver_current()->id != stream->id)
        standin_misuse("the stream is of another context");
}

int cuStreamSynchronize(CUstream stream)
{
    int result = SUCCESS;

    if (is_default(stream))
        result = driver_use_legacy();
    else
        need_stream(stream);
    if (result != SUCCESS)
        return result;
    if (!driver_current()->alive)
        return CONTEXT_IS_DESTROYED;
    while (!is_default(stream) && stream->first)
        step(stream);
    return SUCCESS;
}

int cuStreamDestroy_v2(CUstream stream)
{
    need_stream(stream);
    while (stream->first)
        step(stream);
    free(stream);
    return SUCCESS;
}

/* --- copies -------------------------------------------------------------- */

static int enqueue(CUstream stream, void *to, const void *from, size_t bytes)
{
    struct copy *new = malloc(sizeof *new), **last;

    if (!new)
        return OUT_OF_MEMORY;
    *new = (struct copy){.to = to, .from = from, .bytes = bytes};
    for (last = &stream->first; *last; last = &(*last)->next)
        ;
    *last = new;
    return SUCCESS;
}

/* Copies immediately, in a default stream. */
static int copy(CUstream stream, void *to, const void *from, size_t bytes)
{
    int result;

    if (!is_default(stream)) {
        need_stream(stream);
        return enqueue(stream, to, from, bytes);
    }
    result = driver_use_legacy();
    if (result == SUCCESS)
        memmove(to, from, bytes);
    return result;
}

int cuMemcpyDtoHAsync_v2(void *host, CUdeviceptr from, size_t bytes,
                         CUstream stream)
{
    void *alias;
    int result = driver_prepare(from, bytes, &alias);

    return result == SUCCESS ? copy(stream, host, alias, bytes) : result;
}

int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *host, size_t bytes,
                         CUstream stream)
{
    void *alias;
    int result = driver_prepare(to, bytes, &alias);

    return result == SUCCESS ? copy(stream, alias, host, bytes) : result;
}

int cuMemcpyDtoH_v2(void *host, CUdeviceptr from, size_t bytes)
{
    return cuMemcpyDtoHAsync_v2(host, from, bytes, NULL);
}

int cuMemcpyHtoD_v2(CUdeviceptr to, const void *host, size_t bytes)
{
    const struct allocation *found = driver_find_locked((uintptr_t)to, bytes);
    void *alias;
    int result = driver_prepare(to, bytes, &alias);

    if (result != SUCCESS || bytes > SHORT || found->settled)
        return result == SUCCESS ? copy(NULL, alias, host, bytes) : result;
    result = driver_use_legacy();
    if (result == SUCCESS)
        put_later(alias, host, bytes);
    return result;
}

int cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    void *source, *target;
    int result = driver_prepare(from, bytes, &source);

    if (result == SUCCESS)
        result = driver_prepare(to, bytes, &target);
    return result == SUCCESS ? copy(NULL, target, source, bytes) : result;
}
