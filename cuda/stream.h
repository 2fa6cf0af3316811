/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of this library, and lanes of them. Nothing here, nor elsewhere in
 * this room, uses the legacy stream: what is done there waits for the program's
 * kernels, which may wait for the result of this very call, and invalidates a
 * stream capture of the program.
 *
 * A lane: what one verb at a time needs in a context to bring values to the
 * host and back. Its slots are used in turn, so that the kernel of one piece,
 * the transfer of another and the host's copy of a third overlap; every slot
 * has a stream of its own, which waits for none of the program's.
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

/* In front of a piece stands what its kernel found out: one transfer brings
 * both. */
#define APS_CUDA_STREAM_HEADER ((size_t)256)

struct aps_slot {
    cudaStream_t stream;
    cudaEvent_t done;
    unsigned char *device; /* header, zeros between uses, and piece; ... */
    unsigned char *host;   /* ... the same, pinned */
};

/* What kernels find out in steps that are waited for together: in pinned memory
 * what they write only where it is the case (the marker), which no copy needs to
 * bring; and on the device, zeros between uses, what they add up there, with
 * room for a copy in pinned memory. */
struct aps_findings {
    struct aps_cuda_result *marks;  /* [APS_DEVICE_STEPS] */
    struct aps_cuda_result *device; /* [APS_DEVICE_STEPS] */
    struct aps_cuda_result *host;   /* [APS_DEVICE_STEPS] */
    /* [APS_DEVICE_STEPS], pinned: what they put, and get */
    unsigned char (*bytes)[APS_DEVICE_STEP_BYTES];
};

struct aps_cuda_stream {
    struct aps_slot slot[APS_CUDA_STREAM_SLOTS];
    struct aps_findings findings;
    struct aps_cuda_stream *next; /* the owner's */
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

/* The statistics of a kernel that encodes. */
static inline void aps_cuda_stats_add(struct aps_encode_stats *sum,
                                      const struct aps_cuda_result *found)
{
    sum->underflow += found->underflow;
    sum->overflow += found->overflow;
    sum->nonfinite += found->nonfinite;
}

/* A stream of the current context which neither waits for streams of the
 * program nor lets them wait, of the highest priority: ranks wait for it. */
cudaError_t aps_cuda_stream_make(cudaStream_t *stream);

/* A copy in that stream, between any two memories; complete on return. */
cudaError_t aps_cuda_stream_copy(cudaStream_t stream, void *to,
                                 const void *from, size_t bytes);

/* Zeros in the current context's memory, in a stream of its own; complete on
 * return. */
cudaError_t aps_cuda_clear(void *memory, size_t bytes);

/* A lane of the current context, in which all kernels are loaded then. NULL, and
 * nothing left behind, with the error. */
struct aps_cuda_stream *aps_cuda_stream_create(cudaError_t *error);

/* Wait for all of its work, and make it as new; false if that fails. */
bool aps_cuda_stream_reset(struct aps_cuda_stream *lane);

/* In its context. NULL is none. */
void aps_cuda_stream_destroy(struct aps_cuda_stream *lane);

/* --- what is done in a slot ---------------------------------------------- */

/* Behind its kernels: header and `bytes` of the piece to the host, then `done`.
 */
cudaError_t aps_slot_fetch(const struct aps_slot *slot, size_t bytes);

/* Bytes [begin, end) of the piece alone, behind its kernels. */
cudaError_t aps_slot_fetch_part(const struct aps_slot *slot, size_t begin,
                                size_t end);

/* Bytes [begin, end) of the piece from the host's to the device's, in front of
 * its kernels. */
cudaError_t aps_slot_send(const struct aps_slot *slot, size_t begin,
                          size_t end);

/* Its work up to here, then `done`. */
cudaError_t aps_slot_mark(const struct aps_slot *slot);

/* Wait for `done`. */
cudaError_t aps_slot_wait(const struct aps_slot *slot);

#endif
