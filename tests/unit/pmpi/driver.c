/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times at which the driver is looked for: the cached answer "no driver"
 * must not outlive the moment in which it was true.
 */
#include "config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include "device/gpu_driver.h"
#include "tests/tap/tap.h"

/* Waits longer than APS_GPU_DRIVER_MOMENT, for any frequency of the counter. */
static void outlast_moment(void)
{
    const struct timespec length = {.tv_nsec = 200000000};

    nanosleep(&length, NULL);
}

int main(void)
{
    float *const host = malloc(1 << 24); /* too large for the heap, which is
                                          * known */
    uint64_t begin, missed;

    if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD))
        plan_skip_all("a driver is loaded already");
    ok(!aps_gpu_driver_was_missing(), "who has not looked does not know");
    begin = aps_gpu_driver_ticks();
    ok(!aps_gpu_driver_is_there(), "there is no driver");
    missed = aps_gpu_driver_missed;
    ok(missed - begin <= aps_gpu_driver_ticks() - begin,
       "... which is noted with the time");
    ok(aps_gpu_driver_was_missing(), "... and known for a moment");
    outlast_moment();
    ok(!aps_gpu_driver_was_missing(), "but no longer");
    ok(!aps_gpu_driver_is_there() && aps_gpu_driver_missed != missed,
       "then it is looked for again");

    if (!dlopen(STANDIN, RTLD_NOW))
        bail_out("%s", dlerror());
    outlast_moment();
    missed = aps_gpu_driver_missed;
    ok(!aps_gpu_driver_owns(host) && aps_gpu_driver_loaded,
       "one that has come is found at the next question");
    ok(aps_gpu_driver_missed == missed,
       "... and no time is noted: it was not missing");
    ok(!aps_gpu_driver_was_missing(), "nor is it from then on");
    free(host);
    return done_testing();
}
