/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/staged.h"

#include <string.h>

#include "codec/codec.h"
#include "cuda/kernels.h"
#include "cuda/pieces.h"
#include "number/bits.h"

/* One long transfer, in pieces. */
struct transfer {
    struct aps_cuda_stream *lane;
    const struct aps_format *format; /* NULL: plain floats */
    struct aps_scaling scaling;
    struct aps_cast_options options; /* for encode */
    struct aps_encode_stats *stats;  /* NULL: not counted */
    const float *max; /* for encode: the greatest finite magnitude, or NULL */
    unsigned flags;
    size_t piece; /* values */
    size_t n;
    unsigned char *host;
    unsigned char *x;
};

static struct transfer staged_transfer_init(struct aps_cuda_stream *lane,
                                            const struct aps_format *format,
                                            size_t n)
{
    return (struct transfer){
        .lane = lane,
        .format = format,
        .piece = format ? aps_piece_values(format)
                        : APS_CUDA_STREAM_BYTES / sizeof(float),
        .n = n,
    };
}

static size_t staged_piece_count(const struct transfer *t)
{
    return t->n / t->piece + (t->n % t->piece > 0);
}

static size_t staged_piece_values(const struct transfer *t, size_t i)
{
    size_t left = t->n - i * t->piece;

    return left < t->piece ? left : t->piece;
}

/* Returns the bytes in the slot that the host has elsewhere; 0 for the first
 * piece. */
static size_t staged_piece_repeated(const struct transfer *t, size_t i)
{
    return t->format ? aps_piece_repeated(t->format, i * t->piece) : 0;
}

/* Returns the bytes in the slot. */
static size_t staged_piece_bytes(const struct transfer *t, size_t i)
{
    const size_t values = staged_piece_values(t, i);

    return t->format ? aps_packed_bytes(t->format, values)
                     : values * sizeof(float);
}

static unsigned char *staged_piece_host(const struct transfer *t, size_t i)
{
    const size_t at = i * t->piece;

    return t->host +
           (t->format ? aps_piece_begin(t->format, at) : at * sizeof(float));
}

static float *staged_piece_x(const struct transfer *t, size_t i)
{
    return (float *)(void *)(t->x + i * t->piece * sizeof(float));
}

static const struct aps_slot *staged_piece_slot(const struct transfer *t,
                                                size_t i)
{
    return &t->lane->slot[i % APS_CUDA_STREAM_SLOTS];
}

/* --- to the host --------------------------------------------------------- */

static cudaError_t staged_out_start(const struct transfer *t, size_t i)
{
    const struct aps_slot *slot = staged_piece_slot(t, i);
    const size_t bytes = staged_piece_bytes(t, i);
    unsigned char *to = slot->device + APS_CUDA_STREAM_HEADER;
    cudaError_t error;

    if (t->format) {
        struct aps_cast_options here = t->options;

        here.offset += i * t->piece;
        error = aps_cuda_kernel_encode(t->format, staged_piece_x(t, i),
                                       staged_piece_values(t, i), t->scaling,
                                       &here, t->max, t->stats != NULL, to,
                                       aps_slot_result(slot), slot->stream);
        return error == cudaSuccess ? aps_slot_fetch(slot, bytes) : error;
    }
    error = cudaMemcpyAsync(slot->host + APS_CUDA_STREAM_HEADER,
                            staged_piece_x(t, i), bytes, cudaMemcpyDefault,
                            slot->stream);
    return error == cudaSuccess ? aps_slot_mark(slot) : error;
}

static cudaError_t staged_out_finish(struct transfer *t, size_t i)
{
    const struct aps_slot *slot = staged_piece_slot(t, i);
    const size_t repeated = staged_piece_repeated(t, i);
    cudaError_t error = aps_slot_wait(slot);

    if (error != cudaSuccess)
        return error;
    memcpy(staged_piece_host(t, i),
           slot->host + APS_CUDA_STREAM_HEADER + repeated,
           staged_piece_bytes(t, i) - repeated);
    if (t->format && aps_slot_found(slot)->marked)
        t->flags |= APS_BLOCK_NAN;
    if (t->stats)
        aps_cuda_stats_add(t->stats, aps_slot_found(slot));
    return cudaSuccess;
}

/* Runs as many pieces at a time as there are slots; the oldest is finished
 * first. */
static cudaError_t staged_run_out(struct transfer *t)
{
    const size_t count = staged_piece_count(t);
    cudaError_t error = cudaSuccess;
    size_t started = 0, finished = 0;

    while (finished < count && error == cudaSuccess) {
        if (started < count && started - finished < APS_CUDA_STREAM_SLOTS)
            error = staged_out_start(t, started++);
        else
            error = staged_out_finish(t, finished++);
    }
    return error;
}

/* --- from the host ------------------------------------------------------- */

static cudaError_t staged_in_start(const struct transfer *t, size_t i)
{
    const struct aps_slot *slot = staged_piece_slot(t, i);
    const size_t bytes = staged_piece_bytes(t, i);
    const size_t repeated = staged_piece_repeated(t, i);
    unsigned char *pinned = slot->host + APS_CUDA_STREAM_HEADER;
    cudaError_t error;

    memcpy(pinned, t->host, repeated);
    memcpy(pinned + repeated, staged_piece_host(t, i), bytes - repeated);
    if (t->format) {
        error = aps_slot_send(slot, 0, bytes);
        if (error == cudaSuccess)
            error = aps_cuda_kernel_decode(
                t->format, slot->device + APS_CUDA_STREAM_HEADER,
                staged_piece_values(t, i), t->scaling, t->flags, false,
                staged_piece_x(t, i), slot->stream);
    } else {
        error = cudaMemcpyAsync(staged_piece_x(t, i),
                                slot->host + APS_CUDA_STREAM_HEADER, bytes,
                                cudaMemcpyDefault, slot->stream);
    }
    return error == cudaSuccess ? aps_slot_mark(slot) : error;
}

static cudaError_t staged_run_in(const struct transfer *t)
{
    const size_t count = staged_piece_count(t);
    cudaError_t error = cudaSuccess;
    size_t started = 0, finished = 0;

    while (finished < count && error == cudaSuccess) {
        if (started < count && started - finished < APS_CUDA_STREAM_SLOTS)
            error = staged_in_start(t, started++);
        else
            error = aps_slot_wait(staged_piece_slot(t, finished++));
    }
    return error;
}

/* --- verbs --------------------------------------------------------------- */

cudaError_t aps_staged_magnitude(struct aps_cuda_stream *lane, const float *x,
                                 size_t n, struct aps_magnitude *magnitude)
{
    const struct aps_slot *slot = &lane->slot[0];
    const struct aps_cuda_result *found = aps_slot_found(slot);
    cudaError_t error =
        aps_cuda_kernel_magnitude(x, n, aps_slot_result(slot), slot->stream);

    if (error == cudaSuccess)
        error = aps_slot_fetch(slot, 0);
    if (error == cudaSuccess)
        error = aps_slot_wait(slot);
    if (error != cudaSuccess)
        return error;
    *magnitude = (struct aps_magnitude){
        .max = aps_float_from_bits(found->finite),
        .finite = found->greatest < APS_FLOAT_INF,
    };
    return cudaSuccess;
}

cudaError_t aps_staged_encode(struct aps_cuda_stream *lane,
                              const struct aps_format *format, const float *x,
                              size_t n, struct aps_scaling scaling,
                              const struct aps_cast_options *options,
                              void *wire, unsigned *flags,
                              struct aps_encode_stats *stats)
{
    struct transfer t = staged_transfer_init(lane, format, n);
    cudaError_t error = cudaSuccess;
    struct aps_magnitude magnitude;

    t.scaling = scaling;
    t.options = *options;
    t.stats = stats;
    t.x = (unsigned char *)(uintptr_t)x;
    t.host = wire;
    /* the scale that all pieces share, if there are several */
    if (format->piece_bytes > 0 && n > t.piece) {
        error = aps_staged_magnitude(lane, x, n, &magnitude);
        t.max = &magnitude.max;
    }
    if (error == cudaSuccess)
        error = staged_run_out(&t);
    if (error == cudaSuccess)
        *flags = t.flags;
    return error;
}

cudaError_t aps_staged_decode(struct aps_cuda_stream *lane,
                              const struct aps_format *format, const void *wire,
                              size_t n, struct aps_scaling scaling,
                              unsigned flags, float *x)
{
    struct transfer t = staged_transfer_init(lane, format, n);

    t.scaling = scaling;
    t.flags = flags;
    t.x = (void *)x;
    t.host = (unsigned char *)(uintptr_t)wire;
    return staged_run_in(&t);
}

cudaError_t aps_staged_copy_out(struct aps_cuda_stream *lane, void *host,
                                const float *x, size_t n)
{
    struct transfer t = staged_transfer_init(lane, NULL, n);

    t.x = (unsigned char *)(uintptr_t)x;
    t.host = host;
    return staged_run_out(&t);
}

cudaError_t aps_staged_copy_in(struct aps_cuda_stream *lane, float *x,
                               const void *host, size_t n)
{
    struct transfer t = staged_transfer_init(lane, NULL, n);

    t.x = (void *)x;
    t.host = (unsigned char *)(uintptr_t)host;
    return staged_run_in(&t);
}
