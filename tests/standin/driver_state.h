/* SPDX-License-Identifier: BSD-3-Clause */
/* State that the files of the stand-in for CUDA's driver share: contexts,
 * streams and the memory that it knows. */
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

/* Returns the context that is current in this thread, or NULL. */
DRIVER_HIDDEN struct context *driver_current(void);

/* Records a use of the legacy stream. Returns a CUresult. */
DRIVER_HIDDEN int driver_use_legacy(void);

/* Records a call that is unsafe while a stream is captured, unless the thread's
 * mode is relaxed. Returns a CUresult. */
DRIVER_HIDDEN int driver_be_unsafe(void);

/* Ends copies that cudaMemcpy has started but not finished: called at the next
 * use of the legacy stream, or when memory gets SYNC_MEMOPS. */
DRIVER_HIDDEN void driver_end_copies(void);

/* Prepares a copy of device memory, whose pages *alias gets. Returns a CUresult. */
DRIVER_HIDDEN int driver_prepare(CUdeviceptr pointer, size_t bytes,
                                 void **alias);

/* Data after the bytes, in a separate page, for all processes. */
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
    bool settled; /* SYNC_MEMOPS: copies to it end before they return */
    /* File of an allocation that the plugin has made or opened; otherwise -1. */
    int fd;
    pid_t opener;     /* 0: it is this process's own */
    uintptr_t opened; /* result of open */
    struct shared *shared;
};

/* All allocations, under a lock that these functions take. */
extern DRIVER_HIDDEN struct allocation *driver_allocations;

/* Returns the allocation that has all n bytes, or NULL. */
DRIVER_HIDDEN struct allocation *driver_find_locked(uintptr_t at, size_t n);

/* Maps the pages of a file, and records them. Returns NULL without memory. */
DRIVER_HIDDEN struct allocation *driver_enlist(int fd, size_t bytes,
                                               struct context *context);

/* Allocates memory; *fd is its file. */
DRIVER_HIDDEN struct allocation *
driver_create(size_t bytes, struct context *context, int *fd);

/* Removes and returns the allocation at exactly this address, the plugin's or
 * not, opened or not, or NULL. */
DRIVER_HIDDEN struct allocation *driver_delist(uintptr_t at, bool plugins,
                                               bool opened);
DRIVER_HIDDEN void driver_destroy(struct allocation *gone);

#endif
