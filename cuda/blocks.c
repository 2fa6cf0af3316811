/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/blocks.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cuda/context.h"
#include "cuda/failure.h"
#include "cuda/kernels.h"
#include "cuda/allocations.h"
#include "cuda/pieces.h"
#include "cuda/staged.h"
#include "cuda/stream.h"
#include "number/parse.h"

/* One verb, in pieces: values or, for put and get, bytes. */
struct block {
    const char *name;
    const struct aps_format *format;
    struct aps_scaling scaling;
    struct aps_cast_options options; /* for encode */
    bool counts;                     /* also count the statistics */
    struct aps_encode_stats stats;
    float max; /* for an encode in several pieces that share a scale */
    unsigned flags;
    bool add;
    unsigned char *x;
    unsigned char *wire; /* or the device's bytes, with the host's at `x` */
    size_t n;
    unsigned char *to; /* output, which becomes zeros if the verb fails */
    size_t bytes;
    bool to_host; /* the output is in host memory */
    char *cause;  /* [size], for a trial, whose failure does not count */
    size_t size;

    bool reached; /* kernels of x's context can access the wire */
    /* Otherwise: that context, and the wire's; NULL: memory of a pool. */
    CUcontext here, there;

    /* Starts piece x[at], x[at + 1], ... x[at + count - 1], in a slot. */
    cudaError_t (*start)(const struct block *b, const struct aps_slot *slot,
                         size_t at, size_t count);
    /* Ends a piece; may be NULL. */
    void (*finish)(struct block *b, const struct aps_slot *slot, size_t at,
                   size_t count);
};

static size_t blocks_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the length of pieces: as long as a slot; for kernels that need no
 * slot, all at once. */
static size_t blocks_piece_of(const struct block *b)
{
    if (!b->format)
        return APS_CUDA_STREAM_BYTES;
    if (b->reached)
        return b->n;
    return aps_piece_values(b->format);
}

/* True if pieces of an encode share a scale. */
static bool blocks_share(const struct block *b)
{
    return b->finish && b->format && b->format->piece_bytes > 0 &&
           b->n > blocks_piece_of(b);
}

static cudaError_t blocks_find_max(struct block *b,
                                   struct aps_cuda_stream *lane)
{
    struct aps_magnitude magnitude = {0};
    cudaError_t error = cudaSuccess;

    if (blocks_share(b))
        error = aps_staged_magnitude(lane, APS_ELEMENT_FLOAT, b->x, b->n,
                                     &magnitude);
    b->max = magnitude.max;
    return error;
}

/* Runs as many pieces at a time as there are slots; the oldest is finished
 * first. */
static cudaError_t blocks_run_pieces(struct block *b,
                                     const struct aps_cuda_stream *lane)
{
    const size_t piece = blocks_piece_of(b);
    const size_t count = b->n / piece + (b->n % piece > 0);
    cudaError_t error = cudaSuccess;
    size_t started = 0, finished = 0;

    while (finished < count && error == cudaSuccess) {
        bool starts =
            started < count && started - finished < APS_CUDA_STREAM_SLOTS;
        size_t i = starts ? started++ : finished++;
        size_t values = blocks_min_size(b->n - i * piece, piece);
        const struct aps_slot *slot = &lane->slot[i % APS_CUDA_STREAM_SLOTS];

        error =
            starts ? b->start(b, slot, i * piece, values) : aps_slot_wait(slot);
        if (!starts && error == cudaSuccess && b->finish)
            b->finish(b, slot, i * piece, values);
    }
    return error;
}

/* Writes zeros, if the device still works. */
static void blocks_clear(void *memory, size_t bytes)
{
    struct aps_cuda_visit visit;

    if (aps_cuda_allocations_enter(memory, &visit) != APS_CUDA_DEVICE)
        return;
    (void)aps_cuda_clear(memory, bytes);
    aps_cuda_leave(&visit);
}

static int blocks_fail(const struct block *b, const char *cause)
{
    if (b->cause) {
        snprintf(b->cause, b->size, "%s: %s", b->name, cause);
        return -1;
    }
    aps_cuda_failure_note(b->name, cause);
    if (b->to_host)
        memset(b->to, 0, b->bytes);
    else
        blocks_clear(b->to, b->bytes);
    return -1;
}

/* Returns 0 or -1. */
static int blocks_run(struct block *b)
{
    struct aps_cuda_visit visit;
    struct aps_cuda_stream *lane;
    cudaError_t error;

    if (b->n == 0)
        return 0;
    switch (b->format ? aps_cuda_enter(b->x, &visit)
                      : aps_cuda_allocations_enter(b->wire, &visit)) {
    case APS_CUDA_HOST:
        return blocks_fail(b, "the memory is not a device's");
    case APS_CUDA_NOWHERE:
        return blocks_fail(b, aps_cuda_driver_error(visit.failed));
    case APS_CUDA_DEVICE:
        break;
    }
    b->reached = aps_cuda_allocations_reach(&visit, b->wire);
    b->here = aps_cuda_visited(&visit);
    b->there = b->reached ? NULL : aps_cuda_home_of(b->wire);
    lane = aps_cuda_lane_take(&visit, &error);
    if (lane) {
        error = blocks_find_max(b, lane);
        if (error == cudaSuccess)
            error = blocks_run_pieces(b, lane);
        aps_cuda_lane_give(&visit, lane, error == cudaSuccess);
    }
    aps_cuda_leave(&visit);
    return error == cudaSuccess ? 0 : blocks_fail(b, cudaGetErrorString(error));
}

/* --- encode and decode --------------------------------------------------- */

/* Copies between the wire and a slot, which are of different contexts. */
static cudaError_t blocks_copy(const struct block *b,
                               const struct aps_slot *slot, bool to_wire,
                               unsigned char *to, const unsigned char *from,
                               size_t bytes)
{
    /* cudaMemcpyDefault does not copy between two contexts of one device;
     * memory of a pool belongs to no context. */
    if (b->there && b->there != b->here)
        return (cudaError_t)aps_cuda_driver.copy_peer(
            (CUdeviceptr)(uintptr_t)to, to_wire ? b->there : b->here,
            (CUdeviceptr)(uintptr_t)from, to_wire ? b->here : b->there, bytes,
            slot->stream);
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, slot->stream);
}

/* Returns a piece of the wire, at the address that the kernel uses. */
static unsigned char *blocks_kernel_wire(const struct block *b,
                                         const struct aps_slot *slot, size_t at)
{
    return b->reached ? b->wire + aps_piece_begin(b->format, at)
                      : slot->device + APS_CUDA_STREAM_HEADER;
}

static float *blocks_piece_x(const struct block *b, size_t at)
{
    return (float *)(void *)(b->x + at * sizeof(float));
}

static cudaError_t blocks_encode_start(const struct block *b,
                                       const struct aps_slot *slot, size_t at,
                                       size_t count)
{
    unsigned char *wire = blocks_kernel_wire(b, slot, at);
    const size_t repeated = aps_piece_repeated(b->format, at);
    struct aps_cast_options here = b->options;
    cudaError_t error;

    here.offset += at;
    error = aps_cuda_kernel_encode(b->format, blocks_piece_x(b, at), count,
                                   b->scaling, &here,
                                   blocks_share(b) ? &b->max : NULL, b->counts,
                                   wire, aps_slot_result(slot), slot->stream);

    if (error == cudaSuccess && !b->reached)
        error =
            blocks_copy(b, slot, true, b->wire + aps_piece_begin(b->format, at),
                        wire + repeated, aps_piece_bytes(b->format, at, count));
    return error == cudaSuccess ? aps_slot_fetch(slot, 0) : error;
}

static void blocks_encode_finish(struct block *b, const struct aps_slot *slot,
                                 size_t at, size_t count)
{
    (void)at;
    (void)count;
    if (aps_slot_found(slot)->marked)
        b->flags |= APS_BLOCK_NAN;
    if (b->counts)
        aps_cuda_stats_add(&b->stats, aps_slot_found(slot));
}

int aps_cuda_encode(const struct aps_codec *codec, const float *x, size_t n,
                    struct aps_scaling scaling,
                    const struct aps_cast_options *options, void *wire,
                    struct aps_encode_stats *stats)
{
    static const struct aps_cast_options nearest = APS_CAST_OPTIONS_INIT;
    struct block b = {
        .name = "encode on the device",
        .format = &codec->format,
        .scaling = scaling,
        .options = options ? *options : nearest,
        .counts = stats,
        .x = (unsigned char *)(uintptr_t)x,
        .wire = wire,
        .n = n,
        .to = wire,
        .bytes = aps_codec_bytes(codec, n),
        .start = blocks_encode_start,
        .finish = blocks_encode_finish,
    };

    if (blocks_run(&b) < 0)
        return -1;
    if (stats)
        aps_encode_stats_add(stats, &b.stats);
    return (int)b.flags;
}

static cudaError_t blocks_decode_start(const struct block *b,
                                       const struct aps_slot *slot, size_t at,
                                       size_t count)
{
    unsigned char *wire = blocks_kernel_wire(b, slot, at);
    const size_t repeated = aps_piece_repeated(b->format, at);
    cudaError_t error = cudaSuccess;

    if (!b->reached && repeated > 0)
        error = blocks_copy(b, slot, false, wire, b->wire, repeated);
    if (error == cudaSuccess && !b->reached)
        error = blocks_copy(b, slot, false, wire + repeated,
                            b->wire + aps_piece_begin(b->format, at),
                            aps_piece_bytes(b->format, at, count));
    if (error == cudaSuccess)
        error =
            aps_cuda_kernel_decode(b->format, wire, count, b->scaling, b->flags,
                                   b->add, blocks_piece_x(b, at), slot->stream);
    return error == cudaSuccess ? aps_slot_mark(slot) : error;
}

int aps_cuda_decode(const struct aps_codec *codec, const void *wire, size_t n,
                    struct aps_scaling scaling, unsigned flags, bool add,
                    float *x)
{
    struct block b = {
        .name = "decode on the device",
        .format = &codec->format,
        .scaling = scaling,
        .flags = flags,
        .add = add,
        .x = (unsigned char *)x,
        .wire = (unsigned char *)(uintptr_t)wire,
        .n = n,
        .to = (unsigned char *)x,
        .bytes = n * sizeof *x,
        .start = blocks_decode_start,
    };

    return blocks_run(&b);
}

/* --- put and get --------------------------------------------------------- */

static cudaError_t blocks_put_start(const struct block *b,
                                    const struct aps_slot *slot, size_t at,
                                    size_t count)
{
    unsigned char *pinned = slot->host + APS_CUDA_STREAM_HEADER;
    cudaError_t error;

    memcpy(pinned, b->x + at, count);
    error = cudaMemcpyAsync(b->wire + at, pinned, count, cudaMemcpyHostToDevice,
                            slot->stream);
    return error == cudaSuccess ? aps_slot_mark(slot) : error;
}

int aps_cuda_put(void *to, const void *host, size_t bytes)
{
    struct block b = {
        .name = "put",
        .x = (unsigned char *)(uintptr_t)host,
        .wire = to,
        .n = bytes,
        .to = to,
        .bytes = bytes,
        .start = blocks_put_start,
    };

    return blocks_run(&b);
}

static cudaError_t blocks_get_start(const struct block *b,
                                    const struct aps_slot *slot, size_t at,
                                    size_t count)
{
    cudaError_t error =
        cudaMemcpyAsync(slot->host + APS_CUDA_STREAM_HEADER, b->wire + at,
                        count, cudaMemcpyDeviceToHost, slot->stream);

    return error == cudaSuccess ? aps_slot_mark(slot) : error;
}

static void blocks_get_finish(struct block *b, const struct aps_slot *slot,
                              size_t at, size_t count)
{
    memcpy(b->x + at, slot->host + APS_CUDA_STREAM_HEADER, count);
}

int aps_cuda_get(void *host, const void *from, size_t bytes)
{
    struct block b = {
        .name = "get",
        .x = host,
        .wire = (unsigned char *)(uintptr_t)from,
        .n = bytes,
        .to = host,
        .bytes = bytes,
        .to_host = true,
        .start = blocks_get_start,
        .finish = blocks_get_finish,
    };

    return blocks_run(&b);
}

/* --- a trial ------------------------------------------------------------- */

/* The first 1 KiB is the wire, the rest values. The contents do not matter. */
int aps_cuda_try(void *memory, char *cause, size_t size)
{
    enum { VALUES = 64, WIRE = 1024 };
    unsigned char header[4] = {0};
    struct aps_error error;
    struct aps_format format;
    struct block b = {
        .format = &format,
        .scaling = {.exponent = 0, .factor = 1},
        .x = (unsigned char *)memory + WIRE,
        .wire = memory,
        .n = VALUES,
        .cause = cause,
        .size = size,
    };

    b.name = "encode on the device";
    if (aps_format_parse("e5m2", &format, &error) < 0)
        return blocks_fail(&b, error.text);
    b.start = blocks_encode_start;
    b.finish = blocks_encode_finish;
    if (blocks_run(&b) < 0)
        return -1;
    b.name = "decode on the device";
    b.start = blocks_decode_start;
    b.finish = NULL;
    b.add = true;
    if (blocks_run(&b) < 0)
        return -1;
    b.name = "put";
    b.format = NULL;
    b.x = header;
    b.n = sizeof header;
    b.start = blocks_put_start;
    return blocks_run(&b);
}
