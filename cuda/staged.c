/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/staged.h"

#include <string.h>

#include "codec/codec.h"
#include "cuda/kernels.h"
#include "number/bits.h"

/* Pieces begin at bytes of the wire, and at sectors of a GPU's memory. */
#define PIECE_MULTIPLE ((size_t)1024)

/* One long transfer, by pieces. */
struct transfer {
    struct aps_cuda_stream *lane;
    const struct aps_format *format; /* NULL: floats as they are */
    struct aps_scaling scaling;
    struct aps_cast_options options; /* of encode */
    struct aps_encode_stats *stats;  /* NULL: none */
    unsigned flags;
    size_t width; /* bits of a value on the host */
    size_t piece; /* values */
    size_t n;
    unsigned char *host;
    unsigned char *x;
};

static struct transfer staged_transfer_init(struct aps_cuda_stream *lane,
                                            const struct aps_format *format,
                                            size_t n)
{
    size_t width = format ? (size_t)format->width : 32;

    return (struct transfer){
        .lane = lane,
        .format = format,
        .width = width,
        .piece =
            APS_CUDA_STREAM_BYTES * 8 / width / PIECE_MULTIPLE * PIECE_MULTIPLE,
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

static size_t staged_piece_bytes(const struct transfer *t, size_t i)
{
    return (staged_piece_values(t, i) * t->width + 7) / 8;
}

static unsigned char *staged_piece_host(const struct transfer *t, size_t i)
{
    return t->host + i * (t->piece / 8 * t->width);
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
                                       &here, NULL, t->stats != NULL, to,
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
    cudaError_t error = aps_slot_wait(slot);

    if (error != cudaSuccess)
        return error;
    memcpy(staged_piece_host(t, i), slot->host + APS_CUDA_STREAM_HEADER,
           staged_piece_bytes(t, i));
    if (t->format && aps_slot_found(slot)->marked)
        t->flags |= APS_BLOCK_NAN;
    if (t->stats)
        aps_cuda_stats_add(t->stats, aps_slot_found(slot));
    return cudaSuccess;
}

/* As many under way as there are slots; the oldest is finished first. */
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
    cudaError_t error;

    memcpy(slot->host + APS_CUDA_STREAM_HEADER, staged_piece_host(t, i), bytes);
    if (t->format) {
        error = aps_slot_send(slot, bytes);
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
    cudaError_t error;

    t.scaling = scaling;
    t.options = *options;
    t.stats = stats;
    t.x = (unsigned char *)(uintptr_t)x;
    t.host = wire;
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
