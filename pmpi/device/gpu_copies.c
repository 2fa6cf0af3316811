/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/gpu_copies.h"

#include <pthread.h>
#include <stdio.h>

#include "device/gpu_functions.h"

/* A value of CUstreamCaptureMode. */
#define CAPTURE_MODE_RELAXED 2

#define DEVICES_MOST 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int gpu_copies_fail(const struct aps_gpu_driver *driver, int result,
                           const char *function, char *cause, size_t size)
{
    const char *name = NULL;

    (void)driver->error_name(result, &name);
    snprintf(cause, size, "%s: %s (%d)", function,
             name ? name : "unknown error", result);
    return -1;
}

/* The primary context of a device. It is never released, because the program
 * uses the device. */
static int gpu_copies_primary_of(const struct aps_gpu_driver *driver,
                                 int device, aps_gpu_context *primary)
{
    static aps_gpu_context retained[DEVICES_MOST];
    int result = 0;

    if (device < 0 || device >= DEVICES_MOST)
        return driver->retain(primary, device);
    pthread_mutex_lock(&lock);
    if (!retained[device])
        result = driver->retain(&retained[device], device);
    *primary = retained[device];
    pthread_mutex_unlock(&lock);
    return result;
}

/*
 * Make a context current in which the owner's memory can be copied. For memory
 * of a pool any context of its device will do. Until gpu_copies_leave(), calls
 * of this thread do not break a stream capture of the program. *mode becomes
 * the capture mode to restore.
 */
static int gpu_copies_enter(const struct aps_gpu_driver *driver,
                            const struct aps_gpu_owner *owner, int *mode,
                            char *cause, size_t size)
{
    aps_gpu_context use = owner->home;
    int device, result;

    *mode = CAPTURE_MODE_RELAXED;
    if (!use && driver->current(&use) == 0 && use &&
        (driver->current_device(&device) != 0 || device != owner->device))
        use = NULL;
    if (!use) {
        result = gpu_copies_primary_of(driver, owner->device, &use);
        if (result != 0)
            return gpu_copies_fail(driver, result, "cuDevicePrimaryCtxRetain",
                                   cause, size);
    }
    result = driver->push(use);
    if (result != 0)
        return gpu_copies_fail(driver, result, "cuCtxPushCurrent", cause, size);
    (void)driver->capture_mode(mode);
    return 0;
}

static void gpu_copies_leave(const struct aps_gpu_driver *driver, int mode)
{
    aps_gpu_context popped;

    (void)driver->capture_mode(&mode);
    (void)driver->pop(&popped);
}

/* Copy out of, or into, memory of the device. */
static int gpu_copies_copy(bool out, void *host, const void *device,
                           size_t bytes, char *cause, size_t size)
{
    const struct aps_gpu_driver *found = aps_gpu_driver_get();
    const aps_gpu_address at = (aps_gpu_address)(uintptr_t)device;
    struct aps_gpu_owner owner;
    int mode; /* the capture mode to restore */
    int result;

    if (!found || !aps_gpu_driver_find_owner(found, device, &owner)) {
        snprintf(cause, size, "the driver does not know the memory at %p",
                 device);
        return -1;
    }
    if (gpu_copies_enter(found, &owner, &mode, cause, size) < 0)
        return -1;
    result = out ? found->copy_out(host, at, bytes)
                 : found->copy_in(at, host, bytes);
    /* A copy from pageable memory may return when the bytes are in the driver's
     * own buffer: wait, or other streams of the program may not see them. */
    if (!out && result == 0)
        result = found->wait(NULL);
    gpu_copies_leave(found, mode);
    if (result != 0)
        return gpu_copies_fail(
            found, result, out ? "cuMemcpyDtoH" : "cuMemcpyHtoD", cause, size);
    return 0;
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
