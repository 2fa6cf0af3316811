/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver's functions, from the libcuda of the process: the runtime, which
 * is linked statically, finds the same one. The driver handles contexts and
 * pointers, the runtime everything else.
 */
#ifndef APS_CUDA_DRIVER_H
#define APS_CUDA_DRIVER_H

#include <stddef.h>

#include <cuda.h>

struct aps_cuda_driver {
    CUresult (*init)(unsigned flags);
    CUresult (*version)(int *version);
    CUresult (*device_count)(int *count);
    CUresult (*pointer_attributes)(unsigned count, CUpointer_attribute *which,
                                   void **values, CUdeviceptr pointer);
    CUresult (*address_range)(CUdeviceptr *base, size_t *size,
                              CUdeviceptr pointer);
    CUresult (*context_current)(CUcontext *context);
    CUresult (*context_push)(CUcontext context);
    CUresult (*context_pop)(CUcontext *context);
    CUresult (*context_device)(CUdevice *device);
    CUresult (*context_id)(CUcontext context, unsigned long long *id);
    CUresult (*primary_retain)(CUcontext *context, CUdevice device);
    CUresult (*copy_peer)(CUdeviceptr to, CUcontext to_context,
                          CUdeviceptr from, CUcontext from_context,
                          size_t bytes, CUstream stream);
    CUresult (*capture_mode)(CUstreamCaptureMode *mode);
    CUresult (*error_string)(CUresult result, const char **text);
};

extern struct aps_cuda_driver aps_cuda_driver;

/* Loads and starts it, once and before all other calls. Returns 0, or -1 with
 * the cause. */
int aps_cuda_driver_open(char *cause, size_t size);

/* Returns the driver's text for a result; never NULL. */
const char *aps_cuda_driver_error(CUresult result);

#endif
