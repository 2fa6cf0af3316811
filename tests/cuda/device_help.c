/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device_help.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "tap/tap.h"

const struct aps_memory *verbs;

void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        bail_out("%s: %s", what, cudaGetErrorString(error));
}

unsigned long failures(void)
{
    char cause[256] = "";
    unsigned long count = verbs->failures(cause, sizeof cause);

    if (count > 0)
        diag("%lu failures: %s", count, cause);
    return count;
}

void load_plugin(void)
{
    const char *file = getenv("PLUGIN");
    const struct aps_cuda_plugin *plugin;
    char cause[512];
    void *library;
    int devices = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);

    if (error != cudaSuccess || devices == 0)
        plan_skip_all("no GPU: %s", cudaGetErrorString(error));
    library =
        dlopen(file ? file : ".libs/" APS_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    plugin = library ? dlsym(library, APS_CUDA_SYMBOL) : NULL;
    if (!plugin)
        bail_out("%s", dlerror());
    if (plugin->open(cause, sizeof cause) < 0)
        bail_out("there is a GPU, but: %s", cause);
    verbs = &plugin->memory;
}

const char *const kinds[KINDS] = {"device", "managed", "pool", "pinned",
                                  "ordinary"};

void *memory_of(enum kind kind, size_t bytes)
{
    int has = 1;
    void *p = NULL;

    switch (kind) {
    case DEVICE:
        must(cudaMalloc(&p, bytes), "cudaMalloc");
        break;
    case MANAGED:
        cudaDeviceGetAttribute(&has, cudaDevAttrManagedMemory, 0);
        if (has)
            must(cudaMallocManaged(&p, bytes, cudaMemAttachGlobal),
                 "cudaMallocManaged");
        break;
    case POOL:
        cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, 0);
        if (has)
            must(cudaMallocAsync(&p, bytes, NULL), "cudaMallocAsync");
        break;
    case PINNED:
        must(cudaHostAlloc(&p, bytes, 0), "cudaHostAlloc");
        break;
    case ORDINARY:
    case KINDS:
        p = verbs_allocate(bytes);
        break;
    }
    must(cudaDeviceSynchronize(), "allocation");
    return p;
}

void memory_free(enum kind kind, void *p)
{
    if (kind == PINNED)
        cudaFreeHost(p);
    else if (kind == ORDINARY)
        free(p);
    else
        cudaFree(p);
}
