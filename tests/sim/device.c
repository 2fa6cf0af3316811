/* SPDX-License-Identifier: BSD-3-Clause */
/* pmpi/device.c for the reductions, without GPUs. */
#include "config.h"

#include "device/device.h"

#include "device/gpu_copies.h"

int aps_gpu_copy_out(void *host, const void *device, size_t bytes, char *cause,
                     size_t size)
{
    (void)host;
    (void)device;
    (void)bytes;
    (void)cause;
    (void)size;
    return -1;
}

int aps_gpu_copy_in(void *device, const void *host, size_t bytes, char *cause,
                    size_t size)
{
    (void)device;
    (void)host;
    (void)bytes;
    (void)cause;
    (void)size;
    return -1;
}

bool aps_device_is_expected(void)
{
    return false;
}

bool aps_device_is_current(int device)
{
    (void)device;
    return false;
}

bool aps_device_is_shared(void)
{
    return false;
}

void aps_device_note_loss(void)
{
}

bool aps_device_mpi_is_aware(void)
{
    return false;
}

int aps_device_of(const void *in, const void *out)
{
    (void)in;
    (void)out;
    return -1;
}
