/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of the fake device (fake.h), for its files. Everything is under one lock, which
 * fake_enter takes and fake_leave releases; current contexts belong to a thread.
 */
#ifndef APS_TESTS_CUDA_FAKE_STATE_H
#define APS_TESTS_CUDA_FAKE_STATE_H

#include <pthread.h>
#include <stdint.h>

#include "cuda/kernels.h"
#include "fake.h"

struct CUctx_st {
    int device;
    unsigned long long id;
    bool dead;
    unsigned long long loaded; /* its id when its kernels were loaded */
};

struct fake_memory {
    unsigned char *base;
    size_t size; /* whole pages */
    enum fake_kind kind;
    bool pinned;
    CUcontext context;
    unsigned long long id;     /* id of the context */
    unsigned long long buffer; /* unique for each allocation */
    int device;
    int file;           /* file of both mappings; -1: there is one only */
    const void *shared; /* the owner's, if this is the other mapping, ... */
    unsigned opened;    /* ... and how often it was opened */
    bool registered;    /* memory of the program, only recorded here */
    struct fake_memory *next;
};

/* Work of a stream. */
struct fake_work {
    enum { COPY, CLEAR, MAGNITUDE, ENCODE, DECODE, CONVERT } kind;
    unsigned char *to;
    const unsigned char *from;
    size_t n;
    struct aps_format format;
    struct aps_scaling scaling;
    struct aps_cast_options options; /* of ENCODE */
    bool has_max;
    float max;
    bool stats;
    unsigned flags;
    bool add;
    enum aps_element element; /* of CONVERT */
    bool narrow;
    struct aps_cuda_result *result;
    void *staged; /* to be freed */
    struct fake_work *next;
};

struct CUstream_st {
    CUcontext context;
    unsigned long long id;
    struct fake_work *first;
    unsigned long queued;
    unsigned long done;
    struct CUstream_st *next;
};

struct CUevent_st {
    CUcontext context;
    struct CUstream_st *stream;
    unsigned long after; /* works of the stream before it */
    struct CUevent_st *next;
};

extern struct fake_device {
    pthread_mutex_t mutex;
    struct fake_memory *memories;
    struct CUstream_st *streams;
    struct CUevent_st *events; /* events of a dead context remain */
    struct fake_counts counts;
    unsigned long long contexts;
    struct CUctx_st primary[2];
    /* The call that fails, and how. */
    unsigned long long buffers; /* made so far */
    unsigned long calls, fail_at, attempts, frees, pageable;
    cudaError_t fail_with;
    bool fail_sticky, failed, full, down;
} fake_device;

#define FAKE_DEPTH 16
extern _Thread_local CUcontext fake_stack[FAKE_DEPTH];
extern _Thread_local int fake_depth; /* fake_stack[fake_depth] is current */
extern _Thread_local CUstreamCaptureMode fake_capture;

/* Reports a mistake of the program, and ends it. */
void fake_wrong(const char *what);

/* Every call begins and ends with these. fake_enter returns the error to return. */
cudaError_t fake_enter(void);
cudaError_t fake_leave(cudaError_t error);

/* The caller of the following functions holds the lock. */

/* Returns the allocation that has the pointer; NULL: the program's own memory. */
struct fake_memory *fake_find_memory(const void *pointer);

/* Allocates and records memory. */
void *fake_make_memory(enum fake_kind kind, bool pinned, CUcontext context,
                       size_t bytes);
void fake_drop_memory(void *memory);

/* Copies immediately, whatever work the streams have. */
void fake_copy_now(void *to, const void *from, size_t bytes);

void fake_need_context(CUcontext context);

/* The stream must be one of the current context, and neither the legacy stream
 * nor the thread's default stream. */
void fake_need_stream(const struct CUstream_st *stream);

/* Adds work to the stream; its oldest work runs now. */
cudaError_t fake_enqueue(struct CUstream_st *stream, struct fake_work work);
void fake_stream_step(struct CUstream_st *stream);

#endif
