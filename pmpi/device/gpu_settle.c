/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/gpu_settle.h"

#include <stdint.h>
#include <time.h>

#include "device/gpu_visit.h"

/* A value of CUpointer_attribute, and one of CUctx_flags (CUDA 12.1). */
#define SYNC_MEMOPS 7
#define CONTEXT_SYNC_MEMOPS 0x80u

/* CU_STREAM_LEGACY; values of CUresult and CUstreamCaptureStatus. */
#define LEGACY ((aps_gpu_stream)(uintptr_t)1)
#define NOT_READY 600
#define CAPTURES_NOTHING 0

/* A wait for the legacy stream has an end: its kernels may wait for what comes
 * of the program's call. Copies take microseconds. */
#define LOOKS 1000
static const struct timespec pause = {.tv_nsec = 100000};

/* Is a look at the legacy stream allowed? Not while the program captures another
 * one, and then no such copy is under way either. */
static bool gpu_settle_may_look(const struct aps_gpu_driver *driver)
{
    int status = CAPTURES_NOTHING;

    return driver->is_capturing && driver->query &&
           driver->is_capturing(LEGACY, &status) == 0 &&
           status == CAPTURES_NOTHING;
}

/* The current context, whose memory has no such property. */
static void gpu_settle_context(const struct aps_gpu_driver *driver)
{
    unsigned flags = 0;

    if (!driver->context_flags || !driver->set_context_flags ||
        driver->context_flags(&flags) != 0 || (flags & CONTEXT_SYNC_MEMOPS) ||
        driver->set_context_flags(flags | CONTEXT_SYNC_MEMOPS) != 0)
        return;
    for (int i = 0; i < LOOKS && gpu_settle_may_look(driver) &&
                    driver->query(LEGACY) == NOT_READY;
         i++)
        nanosleep(&pause, NULL);
}

void aps_gpu_settle(const struct aps_gpu_driver *driver, const void *p,
                    const struct aps_gpu_owner *owner)
{
    const unsigned yes = 1;
    struct aps_gpu_visit visit;
    char cause[128];

    if (aps_gpu_visit_enter(driver, owner, &visit, cause, sizeof cause) < 0)
        return; /* whoever copies says so */
    /* waits for those that have not ended */
    if (driver->set_attribute(&yes, SYNC_MEMOPS,
                              (aps_gpu_address)(uintptr_t)p) != 0)
        gpu_settle_context(driver);
    aps_gpu_visit_leave(driver, &visit);
}
