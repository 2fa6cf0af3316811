/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in for the plugin: wire bytes in a device's memory. */
#include "config.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "plugin_state.h"

_Static_assert(sizeof(struct standin_token) <= sizeof(struct aps_memory_token),
               "a token has room for ours");

static void *device_allocate(const void *near, size_t bytes, char *cause,
                             size_t size)
{
    void *memory = NULL;

    if (!plugin_is_told("STANDIN_DEVICE", "full") &&
        !plugin_is_told_here("STANDIN_DEVICE", "full"))
        memory = plugin_driver.allocate(near, bytes);
    if (!memory) {
        snprintf(cause, size, "out of memory");
        return NULL;
    }
    atomic_fetch_add(&plugin_done.allocated, 1);
    atomic_fetch_add(&plugin_done.kept, 1);
    return memory;
}

static void device_release(void *memory)
{
    if (!memory)
        return;
    plugin_driver.release(memory);
    atomic_fetch_sub(&plugin_done.kept, 1);
}

static bool device_holds(const void *memory)
{
    return !plugin_is_told_here("STANDIN_DEVICE", "reset") &&
           plugin_driver.bytes(memory, 1);
}

static int device_try(void *memory, char *cause, size_t size)
{
    if (!plugin_driver.bytes(memory, 4096))
        plugin_driver.misuse("try: this is not a device's memory");
    if (plugin_driver.may_copy())
        return 0;
    snprintf(cause, size, "the stand-in was told to fail");
    return -1;
}

/* Returns the accessible address of bytes of the device. */
static void *device_at(const void *device, size_t bytes, const char *misuse)
{
    void *alias = plugin_driver.bytes(device, bytes);

    if (!alias && bytes > 0)
        plugin_driver.misuse(misuse);
    return alias;
}

static bool may_copy(void)
{
    if (plugin_driver.may_copy())
        return true;
    atomic_fetch_add(&plugin_failed, 1);
    return false;
}

/* A device that is beyond repair does not write zeros either: tests find code
 * that uses the memory all the same. */
static void lose(void *alias, size_t bytes)
{
    memset(alias, 0x7b, bytes);
}

/* Encodes in one step of several, which end together. */
static int step_encode(const struct aps_codec *codec, const float *x, size_t n,
                       struct aps_scaling scaling,
                       const struct aps_cast_options *options, void *wire,
                       struct aps_encode_stats *stats)
{
    const size_t bytes = aps_codec_bytes(codec, n);
    const float *values = device_at(
        x, n * sizeof *x, "encode: the values are not in a device's memory");
    void *to =
        device_at(wire, bytes, "encode: the wire is not in a device's memory");

    if (n == 0)
        return 0;
    if (!aps_device_takes(&codec->format))
        plugin_driver.misuse("encode: devices do not know this format");
    atomic_fetch_add(&plugin_done.encoded, 1);
    if (may_copy())
        return (int)aps_memory_host.encode(codec, values, n, scaling, options,
                                           to, stats);
    lose(to, bytes);
    return -1;
}

static int device_encode(const struct aps_codec *codec, const float *x,
                         size_t n, struct aps_scaling scaling,
                         const struct aps_cast_options *options, void *wire,
                         struct aps_encode_stats *stats)
{
    plugin_driver.count(n > 0, n > 0);
    return step_encode(codec, x, n, scaling, options, wire, stats);
}

static int step_decode(const struct aps_codec *codec, const void *wire,
                       size_t n, struct aps_scaling scaling, unsigned flags,
                       bool add, float *x)
{
    const void *from =
        device_at(wire, aps_codec_bytes(codec, n),
                  "decode: the wire is not in a device's memory");
    float *values = device_at(
        x, n * sizeof *x, "decode: the values are not in a device's memory");

    if (n == 0)
        return 0;
    if (!aps_device_takes(&codec->format))
        plugin_driver.misuse("decode: devices do not know this format");
    atomic_fetch_add(&plugin_done.decoded, 1);
    if (!may_copy())
        return -1;
    if (add)
        codec->decode_add(codec, from, n, scaling, flags, values);
    else
        codec->decode(codec, from, n, scaling, flags, values);
    return 0;
}

static int device_decode(const struct aps_codec *codec, const void *wire,
                         size_t n, struct aps_scaling scaling, unsigned flags,
                         bool add, float *x)
{
    plugin_driver.count(n > 0, n > 0);
    return step_decode(codec, wire, n, scaling, flags, add, x);
}

static int step_put(void *to, const void *host, size_t bytes)
{
    void *alias = device_at(to, bytes, "put: this is not a device's memory");

    if (bytes == 0)
        return 0;
    if (!may_copy()) {
        lose(alias, bytes);
        return -1;
    }
    memcpy(alias, host, bytes);
    return 0;
}

static int step_get(void *host, const void *from, size_t bytes)
{
    const void *alias =
        device_at(from, bytes, "get: this is not a device's memory");

    if (bytes == 0)
        return 0;
    if (!may_copy()) {
        memset(host, 0, bytes);
        return -1;
    }
    memcpy(host, alias, bytes);
    return 0;
}

static int step_measure(struct aps_device_step *step)
{
    const float *values =
        device_at(step->x, step->n * sizeof(float),
                  "magnitude: the values are not in a device's memory");

    if (step->n == 0)
        return 0;
    if (!may_copy())
        return -1;
    step->magnitude = aps_magnitude_of(values, step->n);
    return 0;
}

static int device_step(struct aps_device_step *step)
{
    int flags;

    switch (step->verb) {
    case APS_DEVICE_ENCODE:
        flags = step_encode(step->codec, step->x, step->n, step->scaling,
                            &step->options, step->wire, NULL);
        step->flags = flags < 0 ? 0 : (unsigned)flags;
        return flags < 0 ? -1 : 0;
    case APS_DEVICE_DECODE:
        return step_decode(step->codec, step->wire, step->n, step->scaling,
                           step->flags, step->add, step->x);
    case APS_DEVICE_MAGNITUDE:
        return step_measure(step);
    case APS_DEVICE_PUT:
        return step_put(step->wire, step->bytes, step->n);
    case APS_DEVICE_GET:
        return step_get(step->bytes, step->wire, step->n);
    }
    return -1;
}

static int device_run(struct aps_device_step steps[], size_t count)
{
    long kernels = 0;

    for (size_t i = 0; i < count; i++)
        kernels += steps[i].verb <= APS_DEVICE_MAGNITUDE;
    plugin_driver.count(
        (long)((count + APS_DEVICE_STEPS - 1) / APS_DEVICE_STEPS), kernels);
    for (size_t i = 0; i < count; i++) {
        if (device_step(&steps[i]) < 0)
            return -1;
    }
    return 0;
}

static int device_put(void *to, const void *host, size_t bytes)
{
    plugin_driver.count(bytes > 0, 0);
    return step_put(to, host, bytes);
}

static int device_get(void *host, const void *from, size_t bytes)
{
    plugin_driver.count(bytes > 0, 0);
    return step_get(host, from, bytes);
}

static int device_offer(void *memory, struct aps_memory_token *token,
                        char *cause, size_t size)
{
    struct standin_token ours;

    if (plugin_is_told("STANDIN_IPC", "fail")) {
        snprintf(cause, size, "the stand-in was told not to offer");
        return -1;
    }
    plugin_driver.offer(memory, &ours);
    *token = (struct aps_memory_token){{0}};
    memcpy(token->bytes, &ours, sizeof ours);
    return 0;
}

static void *device_open(const struct aps_memory_token *token, const void *near,
                         char *cause, size_t size)
{
    const char *why = "the stand-in was told not to open";
    struct standin_token theirs;
    void *opened = NULL;

    memcpy(&theirs, token->bytes, sizeof theirs);
    if (!plugin_is_told_here("STANDIN_IPC", "fail"))
        opened = plugin_driver.open(&theirs, near, &why);
    if (opened && plugin_is_told_here("STANDIN_IPC", "garbage"))
        memset(device_at(opened, 256, "open: there is too little"), 0x11, 256);
    if (!opened) {
        snprintf(cause, size, "%s", why);
        return NULL;
    }
    atomic_fetch_add(&plugin_done.opened, 1);
    atomic_fetch_add(&plugin_done.kept, 1);
    return opened;
}

static void device_close(void *opened)
{
    plugin_driver.close(opened);
    atomic_fetch_sub(&plugin_done.kept, 1);
}

const struct aps_device_memory plugin_device = {
    .allocate = device_allocate,
    .release = device_release,
    .holds = device_holds,
    .probe = device_try,
    .encode = device_encode,
    .decode = device_decode,
    .run = device_run,
    .put = device_put,
    .get = device_get,
    .offer = device_offer,
    .open = device_open,
    .close = device_close,
};
