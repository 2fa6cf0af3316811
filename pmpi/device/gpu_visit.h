/* SPDX-License-Identifier: BSD-3-Clause */
/* A context of the driver's, current in this thread for a while. */
#ifndef APS_PMPI_DEVICE_GPU_VISIT_H
#define APS_PMPI_DEVICE_GPU_VISIT_H

#include "device/gpu_functions.h"

struct aps_gpu_visit {
    aps_gpu_context context;
    int mode; /* the capture mode to restore */
};

/*
 * Make a context current in which the owner's memory can be copied. For memory
 * of a pool any context of its device will do. Until aps_gpu_visit_leave(), calls
 * of this thread that the driver calls unsafe do not invalidate a stream capture
 * of the program. 0, or -1 with the cause, and there is nothing to leave.
 */
int aps_gpu_visit_enter(const struct aps_gpu_driver *driver,
                        const struct aps_gpu_owner *owner,
                        struct aps_gpu_visit *visit, char *cause, size_t size);
void aps_gpu_visit_leave(const struct aps_gpu_driver *driver,
                         struct aps_gpu_visit *visit);

/* -1, with what the driver says of its function's result. */
int aps_gpu_driver_fail(const struct aps_gpu_driver *driver, int result,
                        const char *function, char *cause, size_t size);

#endif
