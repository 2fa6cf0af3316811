/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of GPU 0, by CUDA's driver.
 */
#ifndef DIGITS_DEVICE_H
#define DIGITS_DEVICE_H

#include <stddef.h>

/* Returns NULL if there is no GPU, or its memory is full. */
static float *device_alloc(size_t bytes);
static void device_free(float *device); /* NULL is allowed */
static void device_put(float *device, const float *host, size_t bytes);
static void device_get(float *host, const float *device, size_t bytes);

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver.h" /* the part of cuda.h that is used */

static int device_open(void)
{
    static int opened; /* 1: a GPU is open, -1: there is none */
    CUcontext context;
    int device;

    if (opened == 0)
        opened = cuInit(0) == 0 && cuDeviceGet(&device, 0) == 0 &&
                         cuDevicePrimaryCtxRetain(&context, device) == 0 &&
                         cuCtxSetCurrent(context) == 0
                     ? 1
                     : -1;
    return opened == 1;
}

static float *device_alloc(size_t bytes)
{
    CUdeviceptr device;

    if (!device_open() || cuMemAlloc_v2(&device, bytes) != 0)
        return NULL;
    return (float *)(uintptr_t)device;
}

static void device_must(int result)
{
    if (result == 0)
        return;
    fprintf(stderr, "digits: CUDA error %d\n", result);
    abort();
}

static void device_free(float *device)
{
    if (device)
        device_must(cuMemFree_v2((CUdeviceptr)(uintptr_t)device));
}

static void device_put(float *device, const float *host, size_t bytes)
{
    device_must(cuMemcpyHtoD_v2((CUdeviceptr)(uintptr_t)device, host, bytes));
}

static void device_get(float *host, const float *device, size_t bytes)
{
    device_must(cuMemcpyDtoH_v2(host, (CUdeviceptr)(uintptr_t)device, bytes));
}

#endif
