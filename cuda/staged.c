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
    enum aps_element element;        /* type of x */
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

/* Elements that are converted at a time, whose FP32 has the second half of a
 * slot's piece. */
#define CONVERTED (APS_CUDA_STREAM_BYTES / 2 / sizeof(float))

/* Returns the values of a piece whose wire has the first half of a slot's piece:
 * whole granules. */
static size_t staged_converted_values(const struct aps_format *format)
{
    const struct aps_codec codec = {.format = *format};
    const size_t granule = aps_codec_granule(&codec);
    const size_t most = aps_codec_elements(&codec, APS_CUDA_STREAM_BYTES / 2);

    return (most < CONVERTED ? most : CONVERTED) / granule * granule;
}

static struct transfer staged_transfer_init(struct aps_cuda_stream *lane,
                                            const struct aps_format *format,
                                            enum aps_element element, size_t n)
{
    return (struct transfer){
        .lane = lane,
        .format = format,
        .element = element,
        .piece = element != APS_ELEMENT_FLOAT ? staged_converted_values(format)
                 : format                     ? aps_piece_values(format)
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

static void *staged_piece_x(const struct transfer *t, size_t i)
{
    return aps_element_at(t->element, t->x, i * t->piece);
}

static const struct aps_slot *staged_piece_slot(const struct transfer *t,
                                                size_t i)
{
    return &t->lane->slot[i % APS_CUDA_STREAM_SLOTS];
}

/* --- conversion ---------------------------------------------------------- */

/* Returns the FP32 of x in the slot; x itself if that is FP32. */
static float *staged_values(const struct aps_slot *slot,
                            enum aps_element element, const void *x)
{
    return element == APS_ELEMENT_FLOAT
               ? (float *)(uintptr_t)x
               : (float *)(void *)(slot->device + APS_CUDA_STREAM_HEADER) +
                     CONVERTED;
}

/* Starts the conversion of x[n] to its FP32 in the slot, or, if `narrow`, from there;
 * nothing if x is FP32. */
static cudaError_t staged_convert(const struct aps_slot *slot,
                                  enum aps_element element, bool narrow,
                                  void *x, size_t n)
{
    float *values = staged_values(slot, element, x);

    if (element == APS_ELEMENT_FLOAT)
        return cudaSuccess;
    return narrow ? aps_cuda_kernel_convert(element, true, values, n, x,
                                            slot->stream)
                  : aps_cuda_kernel_convert(element, false, x, n, values,
                                            slot->stream);
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
        error = staged_convert(slot, t->element, false, staged_piece_x(t, i),
                               staged_piece_values(t, i));
        if (error == cudaSuccess)
            error = aps_cuda_kernel_encode(
                t->format,
                staged_values(slot, t->element, staged_piece_x(t, i)),
                staged_piece_values(t, i), t->scaling, &here, t->max,
                t->stats != NULL, to, aps_slot_result(slot), slot->stream);
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
                staged_values(slot, t->element, staged_piece_x(t, i)),
                slot->stream);
        if (error == cudaSuccess)
            error = staged_convert(slot, t->element, true, staged_piece_x(t, i),
                                   staged_piece_values(t, i));
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

cudaError_t aps_staged_magnitude(struct aps_cuda_stream *lane,
                                 enum aps_element element, const void *x,
                                 size_t n, struct aps_magnitude *magnitude)
{
    const struct aps_slot *slot = &lane->slot[0];
    const struct aps_cuda_result *found = aps_slot_found(slot);
    const size_t piece = element == APS_ELEMENT_FLOAT ? n : CONVERTED;
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < n && error == cudaSuccess; i += piece) {
        const size_t count = n - i < piece ? n - i : piece;
        void *at = aps_element_at(element, x, i);

        error = staged_convert(slot, element, false, at, count);
        if (error == cudaSuccess)
            error = aps_cuda_kernel_magnitude(staged_values(slot, element, at),
                                              count, aps_slot_result(slot),
                                              slot->stream);
    }
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
                              const struct aps_format *format,
                              enum aps_element element, const void *x, size_t n,
                              struct aps_scaling scaling,
                              const struct aps_cast_options *options,
                              void *wire, unsigned *flags,
                              struct aps_encode_stats *stats)
{
    struct transfer t = staged_transfer_init(lane, format, element, n);
    cudaError_t error = cudaSuccess;
    struct aps_magnitude magnitude;

    t.scaling = scaling;
    t.options = *options;
    t.stats = stats;
    t.x = (unsigned char *)(uintptr_t)x;
    t.host = wire;
    /* the scale that all pieces share, if there are several */
    if (format->piece_bytes > 0 && n > t.piece) {
        error = aps_staged_magnitude(lane, element, x, n, &magnitude);
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
                              unsigned flags, enum aps_element element, void *x)
{
    struct transfer t = staged_transfer_init(lane, format, element, n);

    t.scaling = scaling;
    t.flags = flags;
    t.x = x;
    t.host = (unsigned char *)(uintptr_t)wire;
    return staged_run_in(&t);
}

cudaError_t aps_staged_copy_out(struct aps_cuda_stream *lane, void *host,
                                const float *x, size_t n)
{
    struct transfer t = staged_transfer_init(lane, NULL, APS_ELEMENT_FLOAT, n);

    t.x = (unsigned char *)(uintptr_t)x;
    t.host = host;
    return staged_run_out(&t);
}

cudaError_t aps_staged_copy_in(struct aps_cuda_stream *lane, float *x,
                               const void *host, size_t n)
{
    struct transfer t = staged_transfer_init(lane, NULL, APS_ELEMENT_FLOAT, n);

    t.x = (void *)x;
    t.host = (unsigned char *)(uintptr_t)host;
    return staged_run_in(&t);
}
