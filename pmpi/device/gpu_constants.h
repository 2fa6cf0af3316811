/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of cuda.h, which this library does not include. tests/cuda/constants.c
 * compares them with it. */
#ifndef APS_PMPI_DEVICE_GPU_CONSTANTS_H
#define APS_PMPI_DEVICE_GPU_CONSTANTS_H

enum aps_gpu_constants {
    /* CUpointer_attribute */
    APS_GPU_CONTEXT = 1,
    APS_GPU_MEMORY_TYPE = 2,
    APS_GPU_SYNC_MEMOPS = 6,
    APS_GPU_IS_MANAGED = 8,
    APS_GPU_DEVICE_ORDINAL = 9,

    APS_GPU_TYPE_DEVICE = 2,           /* CUmemorytype */
    APS_GPU_CONTEXT_SYNC_MEMOPS = 128, /* CUctx_flags, since CUDA 12.1 */
    APS_GPU_STREAM_NON_BLOCKING = 1,   /* CUstream_flags */
    APS_GPU_CAPTURE_RELAXED = 2,       /* CUstreamCaptureMode */
    APS_GPU_CAPTURES_NOTHING = 0,      /* CUstreamCaptureStatus */
    APS_GPU_NOT_READY = 600,           /* CUresult */
    APS_GPU_LEGACY_STREAM = 1          /* CU_STREAM_LEGACY */
};

#endif
