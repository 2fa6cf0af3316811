/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for libapsmpi-cuda.so, for the stand-in driver: its verbs are the
 * host's, on pages that no other code may touch. Wrong use ends the process
 * with a line on standard error. In the environment
 *
 *   STANDIN_OPEN=fail          it does not open
 *   STANDIN_DEVICE=full[:RANK] the device has no memory left (on that rank)
 *   STANDIN_DEVICE=reset:RANK  that rank's memory is gone as soon as it is made
 *   STANDIN_IPC=garbage:RANK   what that rank opens is not what was written
 *   STANDIN_IPC=fail           no memory can be offered
 *   STANDIN_IPC=fail:RANK      that rank can open none
 *   STANDIN_PIN=fail           no host memory can be locked
 *   STANDIN_TELL=1             at the end a line says what was done (tell())
 */
#include "config.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/plugin.h"
#include "driver.h"
#include "plugin_state.h"

#ifndef IDENTITY
#define IDENTITY APS_CUDA_IDENTITY
#endif
#ifndef SIZES
#define SIZES APS_CUDA_SIZES
#endif
#ifndef VERSION_SAID
#define VERSION_SAID PACKAGE_VERSION
#endif

struct plugin_driver plugin_driver;
atomic_ulong plugin_failed;
struct plugin_done plugin_done;

static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

    return library && find(library, "standin_alias", &plugin_driver.alias) &&
           find(library, "standin_bytes", &plugin_driver.bytes) &&
           find(library, "standin_may_copy", &plugin_driver.may_copy) &&
           find(library, "standin_count", &plugin_driver.count) &&
           find(library, "standin_misuse", &plugin_driver.misuse) &&
           find(library, "standin_allocate", &plugin_driver.allocate) &&
           find(library, "standin_release", &plugin_driver.release) &&
           find(library, "standin_offer", &plugin_driver.offer) &&
           find(library, "standin_open", &plugin_driver.open) &&
           find(library, "standin_close", &plugin_driver.close);
}

/* True if the environment's `name` says this for all ranks. */
bool plugin_is_told(const char *name, const char *what)
{
    const char *value = getenv(name);

    return value && strcmp(value, what) == 0;
}

/* True if the environment's `name` says this for this rank. */
bool plugin_is_told_here(const char *name, const char *what)
{
    const char *rank = getenv("PMI_RANK");
    char here[64];

    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    snprintf(here, sizeof here, "%s:%s", what, rank ? rank : "");
    return plugin_is_told(name, here);
}

static int open(char *cause, size_t size)
{
    if (!find_driver() || plugin_is_told("STANDIN_OPEN", "fail")) {
        snprintf(cause, size, "the driver is too old");
        return -1;
    }
    plugin_done.pid = getpid();
    fputs("standin: the plugin works\n", stderr);
    return 0;
}

__attribute__((destructor)) static void tell(void)
{
    if (getenv("STANDIN_TELL") && plugin_done.pid == getpid())
        fprintf(
            stderr,
            "standin: allocated %ld, opened %ld, encoded %ld on the "
            "device and %ld to the host, decoded %ld on the device, "
            "pinned %ld, kept %ld\n",
            atomic_load(&plugin_done.allocated),
            atomic_load(&plugin_done.opened), atomic_load(&plugin_done.encoded),
            atomic_load(&plugin_done.to_host),
            atomic_load(&plugin_done.decoded), atomic_load(&plugin_done.pinned),
            atomic_load(&plugin_done.kept));
}

/* Returns the accessible address of x, on the device or on the host, or NULL. */
static float *place(const float *x)
{
    float *alias = plugin_driver.alias(x);

    if (alias && !plugin_driver.may_copy()) {
        atomic_fetch_add(&plugin_failed, 1);
        return NULL;
    }
    return alias ? alias : (float *)(size_t)x;
}

/* Returns place(x) for a verb, after waiting for the device. */
static float *at(const float *x)
{
    if (plugin_driver.alias(x))
        plugin_driver.count(1, 1);
    return place(x);
}

static struct aps_magnitude measure(const float *values, size_t n)
{
    return values ? aps_magnitude_of(values, n) : (struct aps_magnitude){0};
}

static struct aps_magnitude magnitude(const void *x, size_t n)
{
    return measure(at(x), n);
}

static unsigned encode_values(const struct aps_codec *codec,
                              const float *values, size_t n,
                              struct aps_scaling scaling,
                              const struct aps_cast_options *options,
                              void *wire, struct aps_encode_stats *stats)
{
    if (values)
        return aps_memory_host.encode(codec, values, n, scaling, options, wire,
                                      stats);
    memset(wire, 0, aps_codec_bytes(codec, n));
    return 0;
}

static unsigned encode(const struct aps_codec *codec, const void *x, size_t n,
                       struct aps_scaling scaling,
                       const struct aps_cast_options *options, void *wire,
                       struct aps_encode_stats *stats)
{
    if (plugin_driver.alias(x))
        atomic_fetch_add(&plugin_done.to_host, 1);
    return encode_values(codec, at(x), n, scaling, options, wire, stats);
}

static void decode(const struct aps_codec *codec, const void *wire, size_t n,
                   struct aps_scaling scaling, unsigned flags, void *x)
{
    float *values = at(x);

    if (values)
        codec->decode(codec, wire, n, scaling, flags, values);
}

/* --- steps ------------------------------------------------------------- */

#define TRANSFERRED ((size_t)1 << 20) /* at a time */

static bool step_is_of_device(const struct aps_device_step *step)
{
    if (step->verb > APS_DEVICE_MAGNITUDE)
        plugin_driver.misuse("run: host memory has no such step");
    if (step->verb != APS_DEVICE_MAGNITUDE &&
        (step->add || plugin_driver.alias(step->wire)))
        plugin_driver.misuse("run: the wire is not in host memory");
    return step->n > 0 && plugin_driver.alias(step->x) &&
           (step->verb == APS_DEVICE_MAGNITUDE ||
            aps_device_takes(&step->codec->format));
}

static void step_run(struct aps_device_step *step, float *values)
{
    switch (step->verb) {
    case APS_DEVICE_MAGNITUDE:
        step->magnitude = measure(values, step->n);
        return;
    case APS_DEVICE_ENCODE:
        if (plugin_driver.alias(step->x))
            atomic_fetch_add(&plugin_done.to_host, 1);
        step->flags = encode_values(step->codec, values, step->n, step->scaling,
                                    &step->options, step->wire, NULL);
        return;
    case APS_DEVICE_DECODE:
        if (values)
            step->codec->decode(step->codec, step->wire, step->n, step->scaling,
                                step->flags, values);
        return;
    default:
        return;
    }
}

/* Runs the last step first: no step may need another one's result. */
static void run(struct aps_device_step steps[], size_t count)
{
    size_t together = 0, transferred = 0;

    while (count-- > 0) {
        struct aps_device_step *step = &steps[count];
        const size_t bytes = step->verb == APS_DEVICE_MAGNITUDE
                                 ? 0
                                 : aps_codec_bytes(step->codec, step->n);
        bool begins;

        if (!step_is_of_device(step)) {
            step_run(step, at(step->x));
            continue;
        }
        begins = together == 0 || together == APS_DEVICE_STEPS ||
                 transferred + bytes > TRANSFERRED;
        if (begins)
            together = transferred = 0;
        together++;
        transferred += bytes;
        plugin_driver.count(begins, 1);
        step_run(step, place(step->x));
    }
}

/* --- copies ------------------------------------------------------------ */

static void copy_out(float *host, const void *x, size_t n)
{
    const float *values = at(x);

    if (values)
        memcpy(host, values, n * sizeof *host);
    else
        memset(host, 0, n * sizeof *host);
}

static void copy_in(void *x, const float *host, size_t n)
{
    float *values = at(x);

    if (values)
        memcpy(values, host, n * sizeof *host);
}

/* --- host memory -------------------------------------------------------- */

/* Locked memory. The stand-in notices locked memory that was freed when it is
 * locked again, or by the final count of `kept`. */
struct pin {
    struct pin *next;
    uintptr_t begin, end;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pin *pins;

static int pin(void *host, size_t bytes, const void *near)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = (uintptr_t)host;
    struct pin *new;

    if (begin % page != 0 || bytes % page != 0 || bytes == 0)
        plugin_driver.misuse("pin: these are not whole pages");
    if (plugin_driver.alias(host))
        plugin_driver.misuse("pin: this is in a device's memory");
    if (!plugin_driver.alias(near))
        plugin_driver.misuse("pin: near is not in a device's memory");
    if (plugin_is_told("STANDIN_PIN", "fail"))
        return -1;
    new = malloc(sizeof *new);
    if (!new)
        return -1;
    pthread_mutex_lock(&lock);
    for (const struct pin *p = pins; p; p = p->next)
        if (begin < p->end && begin + bytes > p->begin)
            plugin_driver.misuse(
                "pin: this is locked, or was freed without unpin");
    *new = (struct pin){.next = pins, .begin = begin, .end = begin + bytes};
    pins = new;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&plugin_done.pinned, 1);
    atomic_fetch_add(&plugin_done.kept, 1);
    return 0;
}

static void unpin(void *host)
{
    struct pin **link = &pins, *gone;

    pthread_mutex_lock(&lock);
    while (*link && (*link)->begin != (uintptr_t)host)
        link = &(*link)->next;
    gone = *link;
    if (!gone)
        plugin_driver.misuse("unpin: this is not locked");
    *link = gone->next;
    pthread_mutex_unlock(&lock);
    free(gone);
    atomic_fetch_sub(&plugin_done.kept, 1);
}

static unsigned long failures(char *cause, size_t size)
{
    const unsigned long count = atomic_load(&plugin_failed);

    if (count > 0 && size > 0)
        snprintf(cause, size, "the stand-in was told to fail");
    return count;
}

const struct aps_cuda_plugin aps_cuda_plugin = {
    .identity = IDENTITY,
    .version = VERSION_SAID,
    .sizes = SIZES,
    .open = open,
    .memory =
        {
            .name = "stand-in",
            .element = sizeof(float),
            .magnitude = magnitude,
            .encode = encode,
            .decode = decode,
            .run = run,
            .copy_out = copy_out,
            .copy_in = copy_in,
            .pin = pin,
            .unpin = unpin,
            .device = &plugin_device,
            .failures = failures,
        },
    .elements = plugin_elements,
};
