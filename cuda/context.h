/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pointer says where its memory is: on the host, or in a context, which may
 * be another than the caller's and on another device. A visit makes that one
 * current, and puts the caller's back at the end.
 */
#ifndef APS_CUDA_CONTEXT_H
#define APS_CUDA_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "cuda/driver.h"
#include "cuda/stream.h"

/* What is kept for a context as long as the process lives. */
struct aps_cuda_context;

enum aps_cuda_where {
    APS_CUDA_HOST,   /* ordinary or pinned; there is nothing to leave */
    APS_CUDA_DEVICE, /* device or managed: visited, to be left */
    APS_CUDA_NOWHERE /* the driver failed: visit->failed says why */
};

struct aps_cuda_visit {
    struct aps_cuda_context *context;
    CUstreamCaptureMode mode; /* the caller's */
    CUresult failed;
};

/*
 * Visit the memory that `pointer` points into. While it lasts, the thread's
 * calls neither disturb a stream capture of the program nor become part of one.
 */
enum aps_cuda_where aps_cuda_enter(const void *pointer,
                                   struct aps_cuda_visit *visit);
void aps_cuda_leave(const struct aps_cuda_visit *visit);

/* The driver's context that is visited, and the one that memory belongs to; NULL:
 * to none, as that of a pool. */
CUcontext aps_cuda_visited(const struct aps_cuda_visit *visit);
CUcontext aps_cuda_home_of(const void *pointer);

/* Likewise, but false with the cause if there is nothing to leave. */
bool aps_cuda_enter_device(const void *pointer, struct aps_cuda_visit *visit,
                           char *cause, size_t size);

/*
 * Visit a context for something that was made in a visit before, `pointer`, in the
 * allocation `buffer`. APS_CUDA_HOST, and there is nothing to leave: that is gone,
 * with its context, whatever stands at its address by now.
 */
enum aps_cuda_where aps_cuda_enter_again(struct aps_cuda_context *context,
                                         const void *pointer,
                                         unsigned long long buffer,
                                         struct aps_cuda_visit *visit);

/* The number of the allocation that `pointer` points into, which no other of the
 * process ever has, while addresses and contexts' handles are used again. 0: there
 * is none, or the driver does not tell. */
unsigned long long aps_cuda_buffer_of(const void *pointer);

/* Does the memory belong to the context that is visited? */
bool aps_cuda_is_home(const struct aps_cuda_visit *visit, const void *pointer);

/* The same for memory that aps_cuda_enter would visit: managed memory and that
 * of a pool of the context's device are reached from there, too. */
bool aps_cuda_is_reached(const struct aps_cuda_visit *visit,
                         const void *pointer);

/*
 * A lane of the context, for the caller alone: an idle one, a new one, or, if
 * there are enough, the next that another thread gives back. NULL with the
 * error if there is none and none can be made.
 */
struct aps_cuda_stream *aps_cuda_lane_take(const struct aps_cuda_visit *visit,
                                           cudaError_t *error);

/* Back; after an error (`clean` is false) it is waited for first, and given up
 * if that fails. */
void aps_cuda_lane_give(const struct aps_cuda_visit *visit,
                        struct aps_cuda_stream *lane, bool clean);

#endif
