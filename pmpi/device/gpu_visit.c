/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/gpu_visit.h"

#include <pthread.h>
#include <stdio.h>

#include "device/gpu_constants.h"

#define DEVICES_MAX 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int aps_gpu_driver_fail(const struct aps_gpu_driver *driver, int result,
                        const char *function, char *cause, size_t size)
{
    const char *name = NULL;

    (void)driver->error_name(result, &name);
    snprintf(cause, size, "%s: %s (%d)", function,
             name ? name : "unknown error", result);
    return -1;
}

/* Returns the primary context of a device in *primary. It is never released,
 * because the program uses the device. */
static int gpu_visit_primary_of(const struct aps_gpu_driver *driver, int device,
                                aps_gpu_context *primary)
{
    static aps_gpu_context retained[DEVICES_MAX];
    int result = 0;

    if (device < 0 || device >= DEVICES_MAX)
        return driver->retain(primary, device);
    pthread_mutex_lock(&lock);
    if (!retained[device])
        result = driver->retain(&retained[device], device);
    *primary = retained[device];
    pthread_mutex_unlock(&lock);
    return result;
}

void aps_gpu_visit_leave(const struct aps_gpu_driver *driver,
                         struct aps_gpu_visit *visit)
{
    aps_gpu_context popped;

    if (visit->context)
        (void)driver->pop(&popped);
    (void)driver->capture_mode(&visit->mode);
}

int aps_gpu_visit_enter(const struct aps_gpu_driver *driver,
                        const struct aps_gpu_owner *owner,
                        struct aps_gpu_visit *visit, char *cause, size_t size)
{
    const char *function = "cuDevicePrimaryCtxRetain";
    aps_gpu_context use = owner->home;
    int device, result = 0;

    *visit = (struct aps_gpu_visit){.mode = APS_GPU_CAPTURE_RELAXED};
    (void)driver->capture_mode(&visit->mode);
    if (!use && driver->current(&use) == 0 && use &&
        (driver->current_device(&device) != 0 || device != owner->device))
        use = NULL;
    if (!use)
        result = gpu_visit_primary_of(driver, owner->device, &use);
    if (result == 0) {
        function = "cuCtxPushCurrent";
        result = driver->push(use);
    }
    if (result == 0) {
        visit->context = use;
        return 0;
    }
    aps_gpu_visit_leave(driver, visit);
    return aps_gpu_driver_fail(driver, result, function, cause, size);
}
