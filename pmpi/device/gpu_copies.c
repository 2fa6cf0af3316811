/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/gpu_copies.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "device/gpu_constants.h"
#include "device/gpu_functions.h"
#include "device/gpu_visit.h"

/* Largest number of idle streams that are kept, over all contexts. */
#define IDLE_MAX 16

/* A stream, which one copy at a time uses. */
struct stream {
    aps_gpu_stream handle;
    aps_gpu_context context;
    /* id of the context, whose handle may be reused for another context */
    unsigned long long id;
    bool known; /* true if the id is known */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream idle[IDLE_MAX];
static size_t idle_count;

/* --- streams -------------------------------------------------------------- */

/* Takes an idle stream of that context. Returns false if there is none. Streams
 * of an earlier context with the same handle ended with that context, and are
 * removed from the list. */
static bool gpu_copies_reuse(struct stream *stream)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (size_t i = idle_count; i-- > 0 && !found;) {
        if (idle[i].context != stream->context)
            continue;
        found = idle[i].id == stream->id;
        if (found)
            stream->handle = idle[i].handle;
        idle[i] = idle[--idle_count];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/*
 * Takes a stream of the current context for this thread only. Returns the
 * driver's result. The stream does not wait for the legacy stream, nor the
 * legacy stream for it. A copy on the legacy stream would wait for the
 * program's kernels, which may wait for the result of this call, and would
 * invalidate a stream capture. The priority is the highest, since ranks wait
 * for the copy.
 */
static int gpu_copies_take(const struct aps_gpu_driver *driver,
                           aps_gpu_context context, struct stream *stream)
{
    int least = 0, greatest = 0;

    *stream = (struct stream){.context = context};
    stream->known =
        driver->context_id && driver->context_id(context, &stream->id) == 0;
    if (stream->known && gpu_copies_reuse(stream))
        return 0;
    (void)driver->priorities(&least, &greatest);
    return driver->make_stream(&stream->handle, APS_GPU_STREAM_NON_BLOCKING,
                               greatest);
}

/* Keeps the stream, or destroys it if it cannot be recognised later. */
static void gpu_copies_give(const struct aps_gpu_driver *driver,
                            const struct stream *stream)
{
    bool kept;

    pthread_mutex_lock(&lock);
    kept = stream->known && idle_count < IDLE_MAX;
    if (kept)
        idle[idle_count++] = *stream;
    pthread_mutex_unlock(&lock);
    if (!kept)
        (void)driver->destroy_stream(stream->handle);
}

/* --- copies --------------------------------------------------------------- */

/* Copies on the stream. Returns the result of the driver's function *function. */
static int gpu_copies_run(const struct aps_gpu_driver *driver,
                          aps_gpu_stream stream, bool out, void *host,
                          aps_gpu_address device, size_t bytes,
                          const char **function)
{
    int result;

    *function = out ? "cuMemcpyDtoHAsync" : "cuMemcpyHtoDAsync";
    result = out ? driver->copy_out(host, device, bytes, stream)
                 : driver->copy_in(device, host, bytes, stream);
    if (result != 0)
        return result;
    *function = "cuStreamSynchronize";
    return driver->wait(stream);
}

/* Copies out of, or into, memory of the device. Returns 0, or -1 with the
 * cause. */
static int gpu_copies_copy(bool out, void *host, const void *device,
                           size_t bytes, char *cause, size_t size)
{
    const struct aps_gpu_driver *found = aps_gpu_driver_get();
    const aps_gpu_address at = (aps_gpu_address)(uintptr_t)device;
    const char *function = "cuStreamCreateWithPriority";
    struct aps_gpu_owner owner;
    struct stream stream;
    struct aps_gpu_visit visit;
    int result;

    if (!found || !aps_gpu_driver_find_owner(found, device, &owner)) {
        snprintf(cause, size, "the driver does not know the memory at %p",
                 device);
        return -1;
    }
    if (aps_gpu_visit_enter(found, &owner, &visit, cause, size) < 0)
        return -1;
    result = gpu_copies_take(found, visit.context, &stream);
    if (result == 0) {
        result = gpu_copies_run(found, stream.handle, out, host, at, bytes,
                                &function);
        gpu_copies_give(found, &stream);
    }
    aps_gpu_visit_leave(found, &visit);
    return result == 0
               ? 0
               : aps_gpu_driver_fail(found, result, function, cause, size);
}

int aps_gpu_copy_out(void *host, const void *device, size_t bytes, char *cause,
                     size_t size)
{
    return gpu_copies_copy(true, host, device, bytes, cause, size);
}

int aps_gpu_copy_in(void *device, const void *host, size_t bytes, char *cause,
                    size_t size)
{
    union {
        const void *from;
        void *to;
    } plain = {.from = host}; /* the copy only reads it */

    return gpu_copies_copy(false, plain.to, device, bytes, cause, size);
}
