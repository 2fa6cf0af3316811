/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the stand-in for CUDA's driver share: contexts, streams and
 * the memory that it knows. */
#ifndef APS_STANDIN_DRIVER_STATE_H
#define APS_STANDIN_DRIVER_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "driver.h"

/* Some CUresults. */
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_CONTEXT = 201,
    CONTEXT_IS_DESTROYED = 709,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_IMPLICIT = 906,
    UNKNOWN = 999
};

#define DRIVER_HIDDEN __attribute__((visibility("hidden")))

struct context {
    bool alive;
    unsigned long long id;
};

/* The context that is current in this thread, or NULL. */
DRIVER_HIDDEN struct context *driver_current(void);

/* The legacy stream is used. A CUresult. */
DRIVER_HIDDEN int driver_use_legacy(void);

/* A call that is unsafe while a stream is captured, unless the thread's mode is
 * relaxed. A CUresult. */
DRIVER_HIDDEN int driver_be_unsafe(void);

/* A copy that cudaMemcpy has returned from and that ends later: with the next use
 * of the legacy stream, or when memory gets SYNC_MEMOPS. */
DRIVER_HIDDEN void driver_end_copies(void);

/* For a copy of device memory: the pages in *alias. A CUresult. */
DRIVER_HIDDEN int driver_prepare(CUdeviceptr pointer, size_t bytes,
                                 void **alias);

/* Behind the bytes, in a page of its own: what all processes see. */
struct shared {
    atomic_int openings;
};

struct allocation {
    struct allocation *next;
    uintptr_t base;
    size_t bytes;
    char *alias; /* the pages, to be read and written */
    struct context *context;
    bool managed;
    bool settled; /* SYNC_MEMOPS: copies into it end before they return */
    /* Of what the plugin has allocated or opened; else fd is -1. */
    int fd;
    pid_t opener;     /* 0: it is this process's own */
    uintptr_t opened; /* what open returned */
    struct shared *shared;
};

/* All that there are, under a lock that these functions take. */
extern DRIVER_HIDDEN struct allocation *driver_allocations;

/* Where n bytes lie together, or NULL. */
DRIVER_HIDDEN struct allocation *driver_find_locked(uintptr_t at, size_t n);

/* The pages of a file, known from now on. NULL: no room. */
DRIVER_HIDDEN struct allocation *driver_enlist(int fd, size_t bytes,
                                               struct context *context);

/* Fresh memory; *fd is its file. */
DRIVER_HIDDEN struct allocation *
driver_create(size_t bytes, struct context *context, int *fd);

/* The memory at this very address, the plugin's or not, opened or not; no longer
 * known. NULL: there is none. */
DRIVER_HIDDEN struct allocation *driver_delist(uintptr_t at, bool plugins,
                                               bool opened);
DRIVER_HIDDEN void driver_destroy(struct allocation *gone);

#endif
