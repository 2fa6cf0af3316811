/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the device that is none (fake.h) consists of, for the files that make it
 * up. Everything is under one lock, which fake_enter takes and fake_leave gives
 * back; contexts that are current belong to a thread.
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
    unsigned long long id;     /* the context's */
    unsigned long long buffer; /* no other has it */
    int device;
    int file;           /* what both mappings show; -1: there is one only */
    const void *shared; /* the owner's, if this is the other mapping, ... */
    unsigned opened;    /* ... and how often it was opened */
    bool registered;    /* the program's, and only known here */
    struct fake_memory *next;
};

/* What a stream has to do. */
struct fake_work {
    enum { COPY, CLEAR, MAGNITUDE, ENCODE, DECODE } kind;
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
    struct CUevent_st *events; /* those of a dead context stay for ever */
    struct fake_counts counts;
    unsigned long long contexts;
    struct CUctx_st primary[2];
    /* Which call fails, and how. */
    unsigned long long buffers; /* made so far */
    unsigned long calls, fail_at, attempts, frees, pageable;
    cudaError_t fail_with;
    bool fail_sticky, failed, full, down;
} fake_device;

#define FAKE_DEPTH 16
extern _Thread_local CUcontext fake_stack[FAKE_DEPTH];
extern _Thread_local int fake_depth; /* fake_stack[fake_depth] is current */
extern _Thread_local CUstreamCaptureMode fake_capture;

/* A mistake of the program's, which ends it. */
void fake_wrong(const char *what);

/* Every call begins and ends with these. The error that it has to return. */
cudaError_t fake_enter(void);
cudaError_t fake_leave(cudaError_t error);

/* The lock is held in all that follow. */

/* What the pointer points into; NULL: the program's own memory. */
struct fake_memory *fake_find_memory(const void *pointer);

/* Fresh memory, known from now on. */
void *fake_make_memory(enum fake_kind kind, bool pinned, CUcontext context,
                       size_t bytes);
void fake_drop_memory(void *memory);

/* At once, whatever streams have to do. */
void fake_copy_now(void *to, const void *from, size_t bytes);

/* The context has to be current. */
void fake_need_context(CUcontext context);

/* It is a stream of the current context, and neither the legacy stream nor the
 * thread's default stream. */
void fake_need_stream(const struct CUstream_st *stream);

/* The stream does it later; its oldest work now. */
cudaError_t fake_enqueue(struct CUstream_st *stream, struct fake_work work);
void fake_stream_step(struct CUstream_st *stream);

#endif
