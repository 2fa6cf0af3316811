/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for libapsmpi-cuda.so, for the stand-in driver: its verbs are the
 * host's, on the pages that nobody else may touch. In the environment
 * STANDIN_OPEN=fail lets it not open.
 */
#include "config.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/plugin.h"
#include "driver.h"

#ifndef INTERFACE
#define INTERFACE APS_CUDA_INTERFACE
#endif
#ifndef VERSION_SAID
#define VERSION_SAID PACKAGE_VERSION
#endif

static void *(*alias_of)(const void *device);
static bool (*may_copy)(void);
static atomic_ulong failed;

static void find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
}

static int open(char *cause, size_t size)
{
    const char *how = getenv("STANDIN_OPEN");
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

    if (library) {
        find(library, "standin_alias", &alias_of);
        find(library, "standin_may_copy", &may_copy);
    }
    if (!library || !alias_of || !may_copy ||
        (how && strcmp(how, "fail") == 0)) {
        snprintf(cause, size, "the driver is too old");
        return -1;
    }
    fputs("standin: the plugin works\n", stderr);
    return 0;
}

/* Where x may be touched, be it of the device or of the host. NULL: not now. */
static float *at(const float *x)
{
    float *alias = alias_of(x);

    if (alias && !may_copy()) {
        atomic_fetch_add(&failed, 1);
        return NULL;
    }
    return alias ? alias : (float *)(size_t)x;
}

static struct aps_magnitude magnitude(const float *x, size_t n)
{
    const float *values = at(x);

    return values ? aps_magnitude_of(values, n) : (struct aps_magnitude){0};
}

static unsigned encode(const struct aps_codec *codec, const float *x, size_t n,
                       struct aps_scaling scaling, void *wire)
{
    const float *values = at(x);

    if (values)
        return codec->encode(codec, values, n, scaling, NULL, wire);
    memset(wire, 0, aps_codec_bytes(codec, n));
    return 0;
}

static void decode(const struct aps_codec *codec, const void *wire, size_t n,
                   struct aps_scaling scaling, unsigned flags, float *x)
{
    float *values = at(x);

    if (values)
        codec->decode(codec, wire, n, scaling, flags, values);
}

static void copy_out(void *host, const float *x, size_t n)
{
    const float *values = at(x);

    if (values)
        memcpy(host, values, n * sizeof *x);
    else
        memset(host, 0, n * sizeof *x);
}

static void copy_in(float *x, const void *host, size_t n)
{
    float *values = at(x);

    if (values)
        memcpy(values, host, n * sizeof *x);
}

static unsigned long failures(char *cause, size_t size)
{
    const unsigned long count = atomic_load(&failed);

    if (count > 0 && size > 0)
        snprintf(cause, size, "the stand-in was told to fail");
    return count;
}

const struct aps_cuda_plugin aps_cuda_plugin = {
    .interface = INTERFACE,
    .version = VERSION_SAID,
    .open = open,
    .memory =
        {
            .name = "stand-in",
            .magnitude = magnitude,
            .encode = encode,
            .decode = decode,
            .copy_out = copy_out,
            .copy_in = copy_in,
            .failures = failures,
        },
};
