/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of emulate.h by the kernels themselves. The arrays are copied to the
 * device, to addresses of the same alignment, with the bytes around them, and back, so
 * that writes outside an array show as on the host. In the environment, for
 * compute-sanitizer: with APS_TEST_EXACT each array is a separate allocation, which end
 * where the array does; APS_TEST_BLOCKS is the most blocks of a grid.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "cuda/kernels.h"
#include "emulate.h"
#include "tap/tap.h"

/* As in work.c: bytes around an array, and the most with them. */
#define AROUND ((size_t)64)
#define ROOM ((size_t)65536)

static void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        bail_out("%s: %s", what, cudaGetErrorString(error));
}

const char *emulate_compiler(void)
{
    return "the device";
}

const char *emulate_skip(void)
{
    static char reason[256];
    const char *blocks = getenv("APS_TEST_BLOCKS");
    int devices = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);

    aps_cuda_blocks_max = blocks ? (unsigned)atoi(blocks) : 0;
    if (error == cudaSuccess && devices > 0)
        return NULL;
    snprintf(reason, sizeof reason, "no GPU: %s", cudaGetErrorString(error));
    return reason;
}

/* An array of the host and its copy. */
struct copy {
    unsigned char *host;
    size_t size;
    size_t before; /* bytes around that are copied, too */
    size_t after;
    unsigned char *base;
    unsigned char *device;
    bool exact;
};

/* Returns device memory for array 0 or 1, which is kept unless it must be exact. */
static unsigned char *room_for(int which, bool exact, size_t size)
{
    static unsigned char *kept[2];
    unsigned char *room = exact ? NULL : kept[which];

    if (room)
        return room;
    must(cudaMalloc((void **)&room, exact ? size + (size == 0) : ROOM),
         "cudaMalloc");
    if (!exact)
        kept[which] = room;
    return room;
}

static struct copy copy_in(int which, const void *host, size_t size)
{
    const bool exact = getenv("APS_TEST_EXACT") != NULL;
    const size_t page = 4096;
    struct copy c = {.host = (unsigned char *)(uintptr_t)host, .size = size};
    size_t offset;

    /* not beyond the guard page at which the host's array may end */
    c.after = exact ? 0 : (page - (uintptr_t)(c.host + size) % page) % page;
    if (c.after > AROUND)
        c.after = AROUND;
    c.before = exact ? 0 : AROUND - (size_t)(uintptr_t)c.host % 16;
    offset = (uintptr_t)(c.host - c.before) % 16;
    if (offset + c.before + size + c.after > ROOM)
        bail_out("an array of %zu bytes", size);
    c.base = room_for(which, exact, offset + size);
    c.exact = exact;
    c.device = c.base + offset + c.before;
    must(cudaMemcpy(c.device - c.before, c.host - c.before,
                    c.before + size + c.after, cudaMemcpyHostToDevice),
         "copy to the device");
    return c;
}

/* Copies back, if the array was written to. */
static void copy_out(struct copy *c, bool written)
{
    if (written)
        must(cudaMemcpy(c->host - c->before, c->device - c->before,
                        c->before + c->size + c->after, cudaMemcpyDeviceToHost),
             "copy from the device");
    if (c->exact)
        must(cudaFree(c->base), "cudaFree");
}

static struct aps_cuda_result *result_in(void)
{
    static struct aps_cuda_result *device;

    if (!device)
        must(cudaMalloc((void **)&device, sizeof *device), "cudaMalloc");
    must(cudaMemset(device, 0, sizeof *device), "cudaMemset");
    return device;
}

static void result_out(const struct aps_cuda_result *device,
                       struct aps_cuda_result *result)
{
    must(cudaMemcpy(result, device, sizeof *result, cudaMemcpyDeviceToHost),
         "copy of the result");
}

void emulate_magnitude(const float *x, size_t n, struct aps_cuda_result *result)
{
    struct aps_cuda_result *device = result_in();
    struct copy from = copy_in(0, x, n * sizeof *x);

    must(aps_cuda_kernel_magnitude((const float *)(void *)from.device, n,
                                   device, NULL),
         "magnitude");
    result_out(device, result);
    copy_out(&from, false);
}

void emulate_encode(const struct aps_format *format, const float *x, size_t n,
                    struct aps_scaling scaling,
                    const struct aps_cast_options *options, const float *max,
                    bool stats, void *wire, struct aps_cuda_result *result)
{
    struct aps_cuda_result *device = result_in();
    struct copy from = copy_in(0, x, n * sizeof *x);
    struct copy to = copy_in(1, wire, aps_packed_bytes(format, n));

    must(aps_cuda_kernel_encode(format, (const float *)(void *)from.device, n,
                                scaling, options, max, stats, to.device, device,
                                NULL),
         "encode");
    result_out(device, result);
    copy_out(&from, false);
    copy_out(&to, true);
}

void emulate_decode(const struct aps_format *format, const void *wire, size_t n,
                    struct aps_scaling scaling, unsigned flags, bool add,
                    float *x)
{
    struct copy from = copy_in(1, wire, aps_packed_bytes(format, n));
    struct copy to = copy_in(0, x, n * sizeof *x);

    must(aps_cuda_kernel_decode(format, from.device, n, scaling, flags, add,
                                (float *)(void *)to.device, NULL),
         "decode");
    must(cudaDeviceSynchronize(), "decode");
    copy_out(&from, false);
    copy_out(&to, true);
}

void emulate_convert(enum aps_element element, bool narrow, const void *from,
                     size_t n, void *to)
{
    const size_t bytes = aps_element_types[element].bytes;
    struct copy in = copy_in(0, from, n * (narrow ? sizeof(float) : bytes));
    struct copy out = copy_in(1, to, n * (narrow ? bytes : sizeof(float)));

    must(aps_cuda_kernel_convert(element, narrow, in.device, n, out.device,
                                 NULL),
         "convert");
    must(cudaDeviceSynchronize(), "convert");
    copy_out(&in, false);
    copy_out(&out, true);
}
