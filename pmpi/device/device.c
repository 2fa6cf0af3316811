/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/device.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/failures.h"
#include "base/message.h"
#include "cuda/plugin.h"
#include "message/fiber.h"
#include "job/job.h"
#include "device/memory_relay.h"

const struct aps_memory *_Atomic aps_device_backend;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char complaint[PATH_MAX + 256];

/* The plugin lies in the directory of this library. */
static void device_default_path(char *path, size_t size)
{
    Dl_info ours;
    const char *slash = NULL;

    if (dladdr((void *)&aps_device_backend, &ours) && ours.dli_fname)
        slash = strrchr(ours.dli_fname, '/');
    snprintf(path, size, "%.*s%s",
             slash ? (int)(slash - ours.dli_fname) + 1 : 0,
             slash ? ours.dli_fname : "", APS_CUDA_LIBRARY);
}

/* True if the plugin was built with other headers, or has another layout;
 * `complaint` then has the cause. The first two members are equal in all
 * versions. */
static bool device_plugin_differs(const char *path,
                                  const struct aps_cuda_plugin *plugin)
{
    static const struct aps_cuda_sizes sizes = APS_CUDA_SIZES;
    static const char advice[] = "install both from one build";

    if (plugin->identity != APS_CUDA_IDENTITY &&
        strncmp(plugin->version, PACKAGE_VERSION, sizeof plugin->version) != 0)
        snprintf(complaint, sizeof complaint,
                 "%s is of version %.31s, libapsmpi.so of %s; %s", path,
                 plugin->version, PACKAGE_VERSION, advice);
    else if (plugin->identity != APS_CUDA_IDENTITY)
        snprintf(complaint, sizeof complaint,
                 "%s has interface %016" PRIx64 ", libapsmpi.so asks for "
                 "%016" PRIx64 "; %s",
                 path, plugin->identity, (uint64_t)APS_CUDA_IDENTITY, advice);
    else if (memcmp(&plugin->sizes, &sizes, sizeof sizes) != 0)
        snprintf(complaint, sizeof complaint,
                 "%s has other sizes of structs than libapsmpi.so: they come "
                 "from different compilers; %s",
                 path, advice);
    else if (strncmp(plugin->version, PACKAGE_VERSION,
                     sizeof plugin->version) != 0)
        snprintf(complaint, sizeof complaint,
                 "%s is of version %.31s, libapsmpi.so of %s; %s", path,
                 plugin->version, PACKAGE_VERSION, advice);
    else
        return false;
    return true;
}

/* Loads the plugin. Returns NULL with the cause in `complaint` if it cannot be
 * used. */
static const struct aps_cuda_plugin *device_load(const char *path)
{
    const struct aps_cuda_plugin *plugin;
    struct stat found;
    void *library;

    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) {
        snprintf(complaint, sizeof complaint, "%s is not a regular file", path);
        return NULL; /* dlopen would wait for the writer of a pipe */
    }
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(complaint, sizeof complaint, "%s", dlerror());
        return NULL;
    }
    plugin = dlsym(library, APS_CUDA_SYMBOL);
    if (!plugin)
        snprintf(complaint, sizeof complaint, "%s is not a plugin of apsmpi",
                 path);
    else if (!device_plugin_differs(path, plugin))
        return plugin;
    dlclose(library);
    return NULL;
}

static void device_open_plugin(void)
{
    const char *named = aps_job()->options.cuda;
    const struct aps_memory *backend = aps_memory_relay(APS_ELEMENT_FLOAT);
    const struct aps_cuda_plugin *plugin;
    char path[PATH_MAX], cause[256] = "";

    if (!named)
        device_default_path(path, sizeof path);
    plugin = device_load(named ? named : path);
    if (plugin && plugin->tell)
        *plugin->tell = aps_message;
    if (plugin && plugin->open(cause, sizeof cause) == 0) {
        backend = &plugin->memory;
        aps_memory_relay_use(plugin->elements);
    } else if (plugin) {
        snprintf(complaint, sizeof complaint, "%s", cause);
    }
    atomic_store_explicit(&aps_device_backend, backend, memory_order_release);
}

const struct aps_memory *aps_device_open(void)
{
    const struct aps_memory *backend =
        atomic_load_explicit(&aps_device_backend, memory_order_acquire);

    if (backend)
        return backend;
    pthread_once(&once, device_open_plugin);
    return atomic_load_explicit(&aps_device_backend, memory_order_acquire);
}

unsigned long aps_device_failures(char *cause, size_t size)
{
    const struct aps_memory *backend =
        atomic_load_explicit(&aps_device_backend, memory_order_acquire);
    unsigned long failures = aps_memory_relay_failures(cause, size);

    if (backend && backend->failures != aps_memory_relay_failures)
        failures += backend->failures(cause, size);
    return failures + (backend ? aps_device_losses(cause, size) : 0);
}

const char *aps_device_complaint(void)
{
    return atomic_load_explicit(&aps_device_backend, memory_order_acquire)
               ? complaint
               : "";
}

int aps_device_of(const void *in, const void *out)
{
    const int device = aps_gpu_driver_device(in);

    return out == in || aps_gpu_driver_device(out) == device ? device : -1;
}

bool aps_device_is_current(int device)
{
    return !aps_fiber_inside() && aps_gpu_driver_is_current(device);
}

bool aps_device_is_shared(void)
{
    return aps_job()->options.cuda_ipc;
}

bool aps_device_is_expected(void)
{
    return aps_gpu_driver_is_there();
}

/* An MPI without MPIX_Query_cuda_support is not CUDA-aware. */
static bool device_ask_awareness(void)
{
    const struct aps_job *job = aps_job();
    void *symbol = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
    int (*query)(void);

    if (job->foreign || job->options.cuda_aware == APS_AWARE_YES)
        return true;
    if (!symbol || job->options.cuda_aware == APS_AWARE_NO)
        return false;
    memcpy(&query, &symbol, sizeof query);
    return query() == 1;
}

bool aps_device_mpi_is_aware(void)
{
    static atomic_int known; /* 1: yes, 2: no */
    int now = atomic_load_explicit(&known, memory_order_relaxed);

    if (now == 0) {
        now = device_ask_awareness() ? 1 : 2;
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    return now == 1;
}

static struct aps_failures losses = APS_FAILURES_NONE;

void aps_device_note_loss(void)
{
    aps_failures_note(&losses, "a GPU of the node has lost its values");
}

unsigned long aps_device_losses(char *cause, size_t size)
{
    /* A cause that the backend has written is more specific than this one. */
    return aps_failures_count(&losses, cause, cause && cause[0] ? 0 : size);
}
