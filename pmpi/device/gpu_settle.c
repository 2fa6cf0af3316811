/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/gpu_settle.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "device/gpu_constants.h"
#include "device/gpu_visit.h"

#define LEGACY ((aps_gpu_stream)(uintptr_t)APS_GPU_LEGACY_STREAM)

/* Largest number of looks at the legacy stream. The wait is limited, because
 * kernels on that stream may wait for the result of the program's call. Copies
 * take microseconds, or a few time slices of the processes that share the GPU. */
#define LOOKS 1000
static const struct timespec pause = {.tv_nsec = 100000};

/* Held by the thread that settles a context. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* True if the legacy stream may be queried: the program captures no other
 * stream. During a capture no such copy is under way. */
static bool gpu_settle_may_look(const struct aps_gpu_driver *driver)
{
    int status = APS_GPU_CAPTURES_NOTHING;

    return driver->is_capturing && driver->query &&
           driver->is_capturing(LEGACY, &status) == 0 &&
           status == APS_GPU_CAPTURES_NOTHING;
}

/*
 * Settles all memory of the current context. The first call waits for copies
 * under way, and so do all threads that come meanwhile. While any stream is
 * captured the driver refuses to set the flag and ends the capture, so this is
 * used only for memory for which the attribute does not work.
 */
static void gpu_settle_context_locked(const struct aps_gpu_driver *driver)
{
    unsigned flags = 0;

    if (!driver->context_flags || !driver->set_context_flags ||
        driver->context_flags(&flags) != 0 ||
        (flags & APS_GPU_CONTEXT_SYNC_MEMOPS) ||
        driver->set_context_flags(flags | APS_GPU_CONTEXT_SYNC_MEMOPS) != 0)
        return;
    for (int i = 0; i < LOOKS && gpu_settle_may_look(driver) &&
                    driver->query(LEGACY) == APS_GPU_NOT_READY;
         i++)
        nanosleep(&pause, NULL);
}

void aps_gpu_settle(const struct aps_gpu_driver *driver, const void *p,
                    const struct aps_gpu_owner *owner)
{
    const unsigned yes = 1;
    struct aps_gpu_visit visit;
    char cause[128];
    int result;

    if (aps_gpu_visit_enter(driver, owner, &visit, cause, sizeof cause) < 0)
        return; /* the copy that follows reports the cause */
    /* Waits for copies that have not ended. */
    result = driver->set_attribute(&yes, APS_GPU_SYNC_MEMOPS,
                                   (aps_gpu_address)(uintptr_t)p);
    /* Memory that a program has mapped itself cannot have the attribute. Memory
     * of a pool accepts it, but copies do not change (driver 580.159). */
    if (result != 0 || !owner->home) {
        pthread_mutex_lock(&lock);
        gpu_settle_context_locked(driver);
        pthread_mutex_unlock(&lock);
    }
    aps_gpu_visit_leave(driver, &visit);
}
