/* SPDX-License-Identifier: BSD-3-Clause */
/* pmpi/device.c for the reductions, without GPUs. */
#include "config.h"

#include "device/device.h"

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
