/* SPDX-License-Identifier: BSD-3-Clause */
/* State that the files of the stand-in for the plugin share. */
#ifndef APS_STANDIN_PLUGIN_STATE_H
#define APS_STANDIN_PLUGIN_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "codec/memory.h"
#include "cuda/plugin.h"
#include "driver.h"

#define PLUGIN_HIDDEN __attribute__((visibility("hidden")))

/* The stand-in for the driver, found at run time. */
extern PLUGIN_HIDDEN struct plugin_driver {
    void *(*alias)(const void *device);
    void *(*bytes)(const void *device, size_t bytes);
    bool (*may_copy)(void);
    void (*count)(long waits, long kernels);
    void (*misuse)(const char *what);
    void *(*allocate)(const void *near, size_t bytes);
    void (*release)(void *memory);
    void (*offer)(const void *memory, struct standin_token *token);
    void *(*open)(const struct standin_token *token, const void *near,
                  const char **cause);
    void (*close)(void *opened);
} plugin_driver;

/* Number of verbs that failed; and counts of the others. */
extern PLUGIN_HIDDEN atomic_ulong plugin_failed;

extern PLUGIN_HIDDEN struct plugin_done {
    pid_t pid; /* process that has opened the plugin; 0: none */
    atomic_long allocated, opened, pinned;
    atomic_long encoded, to_host, decoded;
    atomic_long kept; /* neither released, closed nor unpinned */
} plugin_done;

/* True if the environment's `name` says this for all ranks, or for this rank. */
PLUGIN_HIDDEN bool plugin_is_told(const char *name, const char *what);
PLUGIN_HIDDEN bool plugin_is_told_here(const char *name, const char *what);

extern PLUGIN_HIDDEN const struct aps_device_memory plugin_device;

/* See aps_cuda_elements_fn. */
PLUGIN_HIDDEN int plugin_elements(enum aps_element element,
                                  struct aps_device_step *step,
                                  struct aps_encode_stats *stats);

#endif
