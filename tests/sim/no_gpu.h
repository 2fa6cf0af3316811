/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the place of device/gpu_driver.h, whose thread-local variable keeps the
 * simulator from loading a copy of the program for each rank. */
#ifndef APS_PMPI_DEVICE_GPU_DRIVER_H
#define APS_PMPI_DEVICE_GPU_DRIVER_H

#include <stdbool.h>

static inline bool aps_gpu_driver_owns(const void *p)
{
    (void)p;
    return false;
}

#endif
