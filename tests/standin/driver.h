/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of CUDA's driver API (cuda.h) that the tests and the stand-in for
 * the driver use; results are 0 or a CUresult.
 */
#ifndef APS_STANDIN_DRIVER_H
#define APS_STANDIN_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef unsigned long long CUdeviceptr;
typedef struct context *CUcontext;
typedef struct stream *CUstream; /* NULL, 1 and 2 are the default streams */
typedef struct graph *CUgraph;

#define CU_MEM_ATTACH_GLOBAL 1u
#define CU_STREAM_NON_BLOCKING 1u
#define CU_STREAM_CAPTURE_MODE_GLOBAL 0

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDevicePrimaryCtxRetain(CUcontext *context, int device);
int cuCtxCreate_v2(CUcontext *context, unsigned flags, int device);
int cuCtxDestroy_v2(CUcontext context);
int cuCtxPushCurrent_v2(CUcontext context);
int cuCtxPopCurrent_v2(CUcontext *context);
int cuCtxGetCurrent(CUcontext *context);
int cuCtxGetDevice(int *device);
int cuThreadExchangeStreamCaptureMode(int *mode);
int cuCtxSetCurrent(CUcontext context);
int cuGetErrorName(int result, const char **name);
int cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes);
int cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags);
int cuMemFree_v2(CUdeviceptr pointer);
int cuMemcpyDtoH_v2(void *host, CUdeviceptr from, size_t bytes);
int cuMemcpyHtoD_v2(CUdeviceptr to, const void *host, size_t bytes);
int cuCtxGetId(CUcontext context, unsigned long long *id);
int cuCtxGetStreamPriorityRange(int *least, int *greatest);
int cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority);
int cuStreamDestroy_v2(CUstream stream);
int cuMemcpyDtoHAsync_v2(void *host, CUdeviceptr from, size_t bytes,
                         CUstream stream);
int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *host, size_t bytes,
                         CUstream stream);
int cuStreamSynchronize(CUstream stream);
int cuStreamBeginCapture_v2(CUstream stream, int mode);
int cuStreamEndCapture(CUstream stream, CUgraph *graph);
int cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
int cuPointerGetAttribute(void *value, int which, CUdeviceptr pointer);
int cuPointerGetAttributes(unsigned count, const int *which, void **values,
                           CUdeviceptr pointer);
int cuPointerSetAttribute(const void *value, int which, CUdeviceptr pointer);

/* --- the stand-in alone --------------------------------------------------- */

/* Return an accessible address of the same byte, or of `bytes` bytes; NULL if
 * they are not in a device's memory. */
void *standin_alias(const void *device);
void *standin_bytes(const void *device, size_t bytes);

/* Makes all copies fail after `times` more (< 0: none). The other function
 * returns true if another copy may be made. */
void standin_fail_after(long times);
bool standin_may_copy(void);

/* Returns the number of uses of the legacy stream. */
long standin_legacy_uses(void);

/* Counts of the plugin's waits for the device, and of its kernel starts; the
 * functions add one. */
struct standin_counts {
    long waits, kernels;
};
struct standin_counts standin_counts(void);
void standin_count(long waits, long kernels);

/* Prints a line and ends the program. */
void standin_misuse(const char *what) __attribute__((noreturn));

/* Memory that processes share, as in struct aps_device_memory. Wrong use ends
 * the program. */
struct standin_token {
    unsigned magic; /* STANDIN_TOKEN */
    pid_t pid;
    int fd; /* file descriptor of that process */
    size_t bytes;
    size_t offset;
};
#define STANDIN_TOKEN 0x7374616eu

void *standin_allocate(const void *near, size_t bytes); /* or NULL */
void standin_release(void *memory);
void standin_offer(const void *memory, struct standin_token *token);
void *standin_open(const struct standin_token *token, const void *near,
                   const char **cause); /* or NULL with the cause */
void standin_close(void *opened);

#endif
