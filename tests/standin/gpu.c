/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver.h"

static struct {
    int (*init)(unsigned);
    int (*device)(int *, int);
    int (*retain)(CUcontext *, int);
    int (*set)(CUcontext);
    int (*alloc)(CUdeviceptr *, size_t);
    int (*alloc_managed)(CUdeviceptr *, size_t, unsigned);
    int (*alloc_pool)(CUdeviceptr *, size_t, CUstream); /* or NULL */
    int (*free)(CUdeviceptr);
    int (*priorities)(int *, int *);
    int (*stream)(CUstream *, unsigned, int);
    int (*get)(void *, CUdeviceptr, size_t, CUstream);
    int (*put)(CUdeviceptr, const void *, size_t, CUstream);
    int (*put_by_legacy)(CUdeviceptr, const void *, size_t);
    int (*wait)(CUstream);
    int (*begin)(CUstream, int);
    int (*end)(CUstream, CUgraph *);
    void (*fail_after)(long);  /* or NULL */
    long (*legacy_uses)(void); /* or NULL */
    struct standin_counts (*counts)(void);
} driver;
static CUcontext home;
static CUstream own, captured;
static long own_legacy_uses;

static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

const char *gpu_open(void)
{
    /* No driver starts faster. */
    const struct timespec start = {.tv_nsec = 20000000};
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    int device, least, greatest;

    if (!library)
        return "no libcuda.so.1";
    nanosleep(&start, NULL);
    if (!find(library, "cuInit", &driver.init) ||
        !find(library, "cuDeviceGet", &driver.device) ||
        !find(library, "cuDevicePrimaryCtxRetain", &driver.retain) ||
        !find(library, "cuCtxSetCurrent", &driver.set) ||
        !find(library, "cuMemAlloc_v2", &driver.alloc) ||
        !find(library, "cuMemAllocManaged", &driver.alloc_managed) ||
        !find(library, "cuMemFree_v2", &driver.free) ||
        !find(library, "cuCtxGetStreamPriorityRange", &driver.priorities) ||
        !find(library, "cuStreamCreateWithPriority", &driver.stream) ||
        !find(library, "cuMemcpyDtoHAsync_v2", &driver.get) ||
        !find(library, "cuMemcpyHtoDAsync_v2", &driver.put) ||
        !find(library, "cuMemcpyHtoD_v2", &driver.put_by_legacy) ||
        !find(library, "cuStreamSynchronize", &driver.wait) ||
        !find(library, "cuStreamBeginCapture_v2", &driver.begin) ||
        !find(library, "cuStreamEndCapture", &driver.end))
        return "libcuda.so.1 is not complete";
    (void)find(library, "cuMemAllocAsync", &driver.alloc_pool);
    (void)find(library, "standin_legacy_uses", &driver.legacy_uses);
    (void)find(library, "standin_counts", &driver.counts);
    (void)find(library, "standin_fail_after", &driver.fail_after);
    if (driver.init(0) != 0 || driver.device(&device, 0) != 0 ||
        driver.retain(&home, device) != 0 || driver.set(home) != 0 ||
        driver.priorities(&least, &greatest) != 0 ||
        driver.stream(&own, CU_STREAM_NON_BLOCKING, greatest) != 0 ||
        driver.stream(&captured, CU_STREAM_NON_BLOCKING, greatest) != 0)
        return "no device that works";
    return NULL;
}

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "# %s: CUDA error %d\n", what, result);
    abort();
}

void *gpu_alloc(size_t bytes, bool managed)
{
    CUdeviceptr pointer;

    must(managed ? driver.alloc_managed(&pointer, bytes, CU_MEM_ATTACH_GLOBAL)
                 : driver.alloc(&pointer, bytes),
         "alloc");
    return (void *)(uintptr_t)pointer;
}

void *gpu_alloc_pool(size_t bytes)
{
    CUdeviceptr pointer;

    if (!driver.alloc_pool)
        return gpu_alloc(bytes, false);
    must(driver.alloc_pool(&pointer, bytes, own), "alloc");
    must(driver.wait(own), "alloc");
    return (void *)(uintptr_t)pointer;
}

void gpu_free(void *device)
{
    must(driver.free((CUdeviceptr)(uintptr_t)device), "free");
}

void gpu_put(void *device, const void *host, size_t bytes)
{
    must(driver.put((CUdeviceptr)(uintptr_t)device, host, bytes, own), "put");
    must(driver.wait(own), "put");
}

void gpu_put_by_legacy(void *device, const void *host, size_t bytes)
{
    own_legacy_uses++;
    must(driver.put_by_legacy((CUdeviceptr)(uintptr_t)device, host, bytes),
         "put by the legacy stream");
}

void gpu_get(void *host, const void *device, size_t bytes)
{
    must(driver.get(host, (CUdeviceptr)(uintptr_t)device, bytes, own), "get");
    must(driver.wait(own), "get");
}

void gpu_capture_begin(void)
{
    must(driver.begin(captured, CU_STREAM_CAPTURE_MODE_GLOBAL), "capture");
}

bool gpu_capture_end(void)
{
    CUgraph graph;

    return driver.end(captured, &graph) == 0;
}

bool gpu_counts(long *waits, long *kernels)
{
    struct standin_counts counts;

    if (!driver.counts)
        return false;
    counts = driver.counts();
    *waits = counts.waits;
    *kernels = counts.kernels;
    return true;
}

long gpu_legacy_uses(void)
{
    return driver.legacy_uses ? driver.legacy_uses() - own_legacy_uses : 0;
}

void gpu_leave(void)
{
    must(driver.set(NULL), "set");
}

void gpu_enter(void)
{
    must(driver.set(home), "set");
}

bool gpu_fail_after(long copies)
{
    if (!driver.fail_after)
        return false;
    driver.fail_after(copies);
    return true;
}
