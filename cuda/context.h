/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out where a pointer's memory is: on the host, or in a context, which
 * may be another than the caller's and on another device. A visit makes that
 * context current, and restores the caller's at the end.
 */
#ifndef APS_CUDA_CONTEXT_H
#define APS_CUDA_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "cuda/driver.h"
#include "cuda/stream.h"

/* State of a context, which is kept until the process ends. */
struct aps_cuda_context;

enum aps_cuda_where {
    APS_CUDA_HOST,   /* ordinary or pinned; no context to leave */
    APS_CUDA_DEVICE, /* device or managed: visited; leave it */
    APS_CUDA_NOWHERE /* the driver failed; visit->failed is its error */
};

struct aps_cuda_visit {
    struct aps_cuda_context *context;
    CUstreamCaptureMode mode; /* mode of the caller */
    CUresult failed;
};

/* Visits the memory into which `pointer` points. During a visit, the
 * thread's calls neither disturb a stream capture of the program nor become
 * part of one. */
enum aps_cuda_where aps_cuda_enter(const void *pointer,
                                   struct aps_cuda_visit *visit);
void aps_cuda_leave(const struct aps_cuda_visit *visit);

/* Return the driver's context that is visited, and the one to which memory
 * belongs; NULL: to none, such as that of a pool. */
CUcontext aps_cuda_visited(const struct aps_cuda_visit *visit);
CUcontext aps_cuda_home_of(const void *pointer);

/* Visits like aps_cuda_enter. Returns false with the cause if there is no
 * context to leave. */
bool aps_cuda_enter_device(const void *pointer, struct aps_cuda_visit *visit,
                           char *cause, size_t size);

/* Visits a context for `pointer`, which was made in an earlier visit, in the
 * allocation `buffer`. Returns APS_CUDA_HOST, and there is no context to
 * leave, if the allocation has ended with its context, whatever is now at
 * its address. */
enum aps_cuda_where aps_cuda_enter_again(struct aps_cuda_context *context,
                                         const void *pointer,
                                         unsigned long long buffer,
                                         struct aps_cuda_visit *visit);

/* Returns the number of the allocation into which `pointer` points, which is
 * unique in the process, unlike addresses and contexts' handles. 0: there is
 * none, or the driver does not tell. */
unsigned long long aps_cuda_buffer_of(const void *pointer);

/* True if the memory belongs to the visited context. */
bool aps_cuda_is_home(const struct aps_cuda_visit *visit, const void *pointer);

/* True if aps_cuda_enter could also visit the memory in this context: its own,
 * managed memory, and that of a pool of the context's device. */
bool aps_cuda_is_reached(const struct aps_cuda_visit *visit,
                         const void *pointer);

/* Takes a lane of the context, for the caller alone: an idle one, a new one,
 * or, if there are enough, the next that another thread returns. Returns NULL
 * with the error if there is none and none can be made. */
struct aps_cuda_stream *aps_cuda_lane_take(const struct aps_cuda_visit *visit,
                                           cudaError_t *error);

/* Returns a lane. After an error (`clean` is false) this waits for its work
 * first, and gives the lane up if that fails. */
void aps_cuda_lane_give(const struct aps_cuda_visit *visit,
                        struct aps_cuda_stream *lane, bool clean);

#endif
