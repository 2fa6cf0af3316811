/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a context of the driver current in the calling thread, from enter to
 * leave. */
#ifndef APS_PMPI_DEVICE_GPU_VISIT_H
#define APS_PMPI_DEVICE_GPU_VISIT_H

#include "device/gpu_functions.h"

struct aps_gpu_visit {
    aps_gpu_context context;
    int mode; /* capture mode to restore */
};

/*
 * Makes a context current in which the owner's memory can be copied. For memory
 * of a pool any context of its device is sufficient. Until
 * aps_gpu_visit_leave(), calls of this thread that the driver considers unsafe
 * do not invalidate a stream capture of the program. Returns 0, or -1 with the
 * cause; after an error the caller must not leave.
 */
int aps_gpu_visit_enter(const struct aps_gpu_driver *driver,
                        const struct aps_gpu_owner *owner,
                        struct aps_gpu_visit *visit, char *cause, size_t size);
void aps_gpu_visit_leave(const struct aps_gpu_driver *driver,
                         struct aps_gpu_visit *visit);

/* Sets `cause` to the driver's name of the function's result. Returns -1. */
int aps_gpu_driver_fail(const struct aps_gpu_driver *driver, int result,
                        const char *function, char *cause, size_t size);

#endif
