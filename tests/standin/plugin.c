/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for libapsmpi-cuda.so, for the stand-in driver: its verbs are the
 * host's, on the pages that nobody else may touch. Whoever uses them wrongly
 * ends with a line on standard error. In the environment
 *
 *   STANDIN_OPEN=fail          it does not open
 *   STANDIN_DEVICE=full[:RANK] the device has no memory left (on that rank)
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

#ifndef IDENTITY
#define IDENTITY APS_CUDA_IDENTITY
#endif
#ifndef SIZES
#define SIZES APS_CUDA_SIZES
#endif
#ifndef VERSION_SAID
#define VERSION_SAID PACKAGE_VERSION
#endif

static struct {
    void *(*alias)(const void *device);
    void *(*bytes)(const void *device, size_t bytes);
    bool (*may_copy)(void);
    void (*misuse)(const char *what);
    void *(*allocate)(const void *near, size_t bytes);
    void (*release)(void *memory);
    void (*offer)(const void *memory, struct standin_token *token);
    void *(*open)(const struct standin_token *token, const void *near,
                  const char **cause);
    void (*close)(void *opened);
} driver;
static atomic_ulong failed;

static struct {
    pid_t pid; /* who has opened the plugin; 0: nobody */
    atomic_long allocated, opened, pinned;
    atomic_long encoded, to_host, decoded;
    atomic_long kept; /* neither released, closed nor unpinned */
} done;

static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

    return library && find(library, "standin_alias", &driver.alias) &&
           find(library, "standin_bytes", &driver.bytes) &&
           find(library, "standin_may_copy", &driver.may_copy) &&
           find(library, "standin_misuse", &driver.misuse) &&
           find(library, "standin_allocate", &driver.allocate) &&
           find(library, "standin_release", &driver.release) &&
           find(library, "standin_offer", &driver.offer) &&
           find(library, "standin_open", &driver.open) &&
           find(library, "standin_close", &driver.close);
}

/* Does the environment's `name` say this of all ranks? */
static bool is_told(const char *name, const char *what)
{
    const char *value = getenv(name);

    return value && strcmp(value, what) == 0;
}

/* Of this rank? */
static bool is_told_here(const char *name, const char *what)
{
    const char *rank = getenv("PMI_RANK");
    char here[64];

    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    snprintf(here, sizeof here, "%s:%s", what, rank ? rank : "");
    return is_told(name, here);
}

static int open(char *cause, size_t size)
{
    if (!find_driver() || is_told("STANDIN_OPEN", "fail")) {
        snprintf(cause, size, "the driver is too old");
        return -1;
    }
    done.pid = getpid();
    fputs("standin: the plugin works\n", stderr);
    return 0;
}

__attribute__((destructor)) static void tell(void)
{
    if (getenv("STANDIN_TELL") && done.pid == getpid())
        fprintf(stderr,
                "standin: allocated %ld, opened %ld, encoded %ld on the "
                "device and %ld to the host, decoded %ld on the device, "
                "pinned %ld, kept %ld\n",
                atomic_load(&done.allocated), atomic_load(&done.opened),
                atomic_load(&done.encoded), atomic_load(&done.to_host),
                atomic_load(&done.decoded), atomic_load(&done.pinned),
                atomic_load(&done.kept));
}

/* Where x may be touched, be it of the device or of the host. NULL: not now. */
static float *at(const float *x)
{
    float *alias = driver.alias(x);

    if (alias && !driver.may_copy()) {
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

static unsigned encode_stats(const struct aps_codec *codec, const float *x,
                             size_t n, struct aps_scaling scaling,
                             const struct aps_cast_options *options, void *wire,
                             struct aps_encode_stats *stats)
{
    const float *values = at(x);

    if (driver.alias(x))
        atomic_fetch_add(&done.to_host, 1);
    if (values)
        return aps_memory_host.encode_stats(codec, values, n, scaling, options,
                                            wire, stats);
    memset(wire, 0, aps_codec_bytes(codec, n));
    return 0;
}

static unsigned encode(const struct aps_codec *codec, const float *x, size_t n,
                       struct aps_scaling scaling, void *wire)
{
    return encode_stats(codec, x, n, scaling, NULL, wire, NULL);
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

/* --- host memory -------------------------------------------------------- */

/* What is locked. Memory that was freed all the same is noticed where it is
 * locked again, or by what is `kept` at the end. */
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
        driver.misuse("pin: these are no whole pages");
    if (driver.alias(host))
        driver.misuse("pin: this is in a device's memory");
    if (!driver.alias(near))
        driver.misuse("pin: near is not in a device's memory");
    if (is_told("STANDIN_PIN", "fail"))
        return -1;
    new = malloc(sizeof *new);
    if (!new)
        return -1;
    pthread_mutex_lock(&lock);
    for (const struct pin *p = pins; p; p = p->next)
        if (begin < p->end && begin + bytes > p->begin)
            driver.misuse("pin: this is locked, or was freed without unpin");
    *new = (struct pin){.next = pins, .begin = begin, .end = begin + bytes};
    pins = new;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&done.pinned, 1);
    atomic_fetch_add(&done.kept, 1);
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
        driver.misuse("unpin: this is not locked");
    *link = gone->next;
    pthread_mutex_unlock(&lock);
    free(gone);
    atomic_fetch_sub(&done.kept, 1);
}

/* --- wire bytes on the device ------------------------------------------- */

_Static_assert(sizeof(struct standin_token) <= sizeof(struct aps_memory_token),
               "a token has room for ours");

static void *device_allocate(const void *near, size_t bytes, char *cause,
                             size_t size)
{
    void *memory = NULL;

    if (!is_told("STANDIN_DEVICE", "full") &&
        !is_told_here("STANDIN_DEVICE", "full"))
        memory = driver.allocate(near, bytes);
    if (!memory) {
        snprintf(cause, size, "out of memory");
        return NULL;
    }
    atomic_fetch_add(&done.allocated, 1);
    atomic_fetch_add(&done.kept, 1);
    return memory;
}

static void device_release(void *memory)
{
    if (!memory)
        return;
    driver.release(memory);
    atomic_fetch_sub(&done.kept, 1);
}

static int device_try(void *memory, char *cause, size_t size)
{
    if (!driver.bytes(memory, 4096))
        driver.misuse("try: this is not a device's memory");
    if (driver.may_copy())
        return 0;
    snprintf(cause, size, "the stand-in was told to fail");
    return -1;
}

/* Where bytes of the device may be touched. */
static void *device_at(const void *device, size_t bytes, const char *misuse)
{
    void *alias = driver.bytes(device, bytes);

    if (!alias && bytes > 0)
        driver.misuse(misuse);
    return alias;
}

static bool may_copy(void)
{
    if (driver.may_copy())
        return true;
    atomic_fetch_add(&failed, 1);
    return false;
}

/* A device that is beyond repair writes no zeros either: whoever uses what is
 * there is found out. */
static void lose(void *alias, size_t bytes)
{
    memset(alias, 0x7b, bytes);
}

static int device_encode_stats(const struct aps_codec *codec, const float *x,
                               size_t n, struct aps_scaling scaling,
                               const struct aps_cast_options *options,
                               void *wire, struct aps_encode_stats *stats)
{
    const size_t bytes = aps_codec_bytes(codec, n);
    const float *values = device_at(
        x, n * sizeof *x, "encode: the values are not in a device's memory");
    void *to =
        device_at(wire, bytes, "encode: the wire is not in a device's memory");

    if (n == 0)
        return 0;
    if (!aps_device_takes(&codec->format))
        driver.misuse("encode: devices do not know this format");
    atomic_fetch_add(&done.encoded, 1);
    if (may_copy())
        return (int)aps_memory_host.encode_stats(codec, values, n, scaling,
                                                 options, to, stats);
    lose(to, bytes);
    return -1;
}

static int device_encode(const struct aps_codec *codec, const float *x,
                         size_t n, struct aps_scaling scaling, void *wire)
{
    return device_encode_stats(codec, x, n, scaling, NULL, wire, NULL);
}

static int device_decode(const struct aps_codec *codec, const void *wire,
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
        driver.misuse("decode: devices do not know this format");
    atomic_fetch_add(&done.decoded, 1);
    if (!may_copy())
        return -1;
    if (add)
        codec->decode_add(codec, from, n, scaling, flags, values);
    else
        codec->decode(codec, from, n, scaling, flags, values);
    return 0;
}

static int device_put(void *to, const void *host, size_t bytes)
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

static int device_get(void *host, const void *from, size_t bytes)
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

static int device_offer(void *memory, struct aps_memory_token *token,
                        char *cause, size_t size)
{
    struct standin_token ours;

    if (is_told("STANDIN_IPC", "fail")) {
        snprintf(cause, size, "the stand-in was told not to offer");
        return -1;
    }
    driver.offer(memory, &ours);
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
    if (!is_told_here("STANDIN_IPC", "fail"))
        opened = driver.open(&theirs, near, &why);
    if (!opened) {
        snprintf(cause, size, "%s", why);
        return NULL;
    }
    atomic_fetch_add(&done.opened, 1);
    atomic_fetch_add(&done.kept, 1);
    return opened;
}

static void device_close(void *opened)
{
    driver.close(opened);
    atomic_fetch_sub(&done.kept, 1);
}

static const struct aps_device_memory device = {
    .allocate = device_allocate,
    .release = device_release,
    .try = device_try,
    .encode = device_encode,
    .encode_stats = device_encode_stats,
    .decode = device_decode,
    .put = device_put,
    .get = device_get,
    .offer = device_offer,
    .open = device_open,
    .close = device_close,
};

static unsigned long failures(char *cause, size_t size)
{
    const unsigned long count = atomic_load(&failed);

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
            .magnitude = magnitude,
            .encode = encode,
            .encode_stats = encode_stats,
            .decode = decode,
            .copy_out = copy_out,
            .copy_in = copy_in,
            .pin = pin,
            .unpin = unpin,
            .device = &device,
            .failures = failures,
        },
};
