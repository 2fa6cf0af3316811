/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of this library, and lanes of them. No file of this room uses the
 * legacy stream, in which work waits for the program's kernels, which may wait
 * for the result of the current call, and which invalidates a stream capture of
 * the program.
 *
 * A lane has the resources with which one verb at a time transfers values of a
 * context to the host and back. Its slots are used in rotation, so that the
 * kernel of one piece, the transfer of another and the host's copy of a third
 * overlap; every slot has a stream of its own, which waits for none of the
 * program's.
 */
#ifndef APS_CUDA_STREAM_H
#define APS_CUDA_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "codec/memory.h"
#include "cuda/threads.h"

#define APS_CUDA_STREAM_SLOTS 3

/* Bytes of a piece: long enough for a bus to reach its full speed. */
#define APS_CUDA_STREAM_BYTES ((size_t)1 << 20)

/* The findings of the kernel precede a piece, so that one transfer copies
 * both. */
#define APS_CUDA_STREAM_HEADER ((size_t)256)

struct aps_slot {
    cudaStream_t stream;
    cudaEvent_t done;
    unsigned char *device; /* header, zeros between uses, and piece; ... */
    unsigned char *host;   /* ... copies of the three, pinned */
};

/* Findings of kernels in steps that are waited for together. In pinned memory:
 * the marker, which kernels write only if it is needed, and which no copy
 * transfers. On the device, zeros between uses: sums, with room for a copy in
 * pinned memory. */
struct aps_findings {
    struct aps_cuda_result *marks;  /* [APS_DEVICE_STEPS] */
    struct aps_cuda_result *device; /* [APS_DEVICE_STEPS] */
    struct aps_cuda_result *host;   /* [APS_DEVICE_STEPS] */
    /* [APS_DEVICE_STEPS], pinned: bytes of put and get */
    unsigned char (*bytes)[APS_DEVICE_STEP_BYTES];
};

struct aps_cuda_stream {
    struct aps_slot slot[APS_CUDA_STREAM_SLOTS];
    struct aps_findings findings;
    struct aps_cuda_stream *next; /* for the owner's list */
};

static inline struct aps_cuda_result *
aps_slot_result(const struct aps_slot *slot)
{
    return (struct aps_cuda_result *)(void *)slot->device;
}

static inline const struct aps_cuda_result *
aps_slot_found(const struct aps_slot *slot)
{
    return (const struct aps_cuda_result *)(void *)slot->host;
}

/* Adds the statistics of a kernel that encodes. */
static inline void aps_cuda_stats_add(struct aps_encode_stats *sum,
                                      const struct aps_cuda_result *found)
{
    sum->underflow += found->underflow;
    sum->overflow += found->overflow;
    sum->nonfinite += found->nonfinite;
}

/* Makes a stream of the current context which neither waits for streams of the
 * program nor lets them wait, of the highest priority, because ranks wait for
 * it. */
cudaError_t aps_cuda_stream_make(cudaStream_t *stream);

/* Copies in that stream, between any two memories; complete on return. */
cudaError_t aps_cuda_stream_copy(cudaStream_t stream, void *to,
                                 const void *from, size_t bytes);

/* Writes zeros to the current context's memory, in a stream of its own;
 * complete on return. */
cudaError_t aps_cuda_clear(void *memory, size_t bytes);

/* Makes a lane of the current context, and loads all kernels there. Returns
 * NULL with the error, and frees everything. */
struct aps_cuda_stream *aps_cuda_stream_create(cudaError_t *error);

/* Waits for all of its work, and restores its initial state. Returns false if
 * that fails. */
bool aps_cuda_stream_reset(struct aps_cuda_stream *lane);

/* Call this in its context. NULL is allowed. */
void aps_cuda_stream_destroy(struct aps_cuda_stream *lane);

/* --- what is done in a slot ---------------------------------------------- */

/* After its kernels: copies the header and `bytes` of the piece to the host,
 * then marks `done`. */
cudaError_t aps_slot_fetch(const struct aps_slot *slot, size_t bytes);

/* After its kernels: copies only bytes [begin, end) of the piece. */
cudaError_t aps_slot_fetch_part(const struct aps_slot *slot, size_t begin,
                                size_t end);

/* Before its kernels: copies bytes [begin, end) of the piece from the host's
 * memory to the device's. */
cudaError_t aps_slot_send(const struct aps_slot *slot, size_t begin,
                          size_t end);

/* Marks `done` after the work so far. */
cudaError_t aps_slot_mark(const struct aps_slot *slot);

/* Waits for `done`. */
cudaError_t aps_slot_wait(const struct aps_slot *slot);

#endif
