/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts a long wire into pieces that fit a slot (cuda/stream.h). A piece is
 * whole granules of values, and in its slot a wire of its own: a scale of all
 * values precedes the first block of the whole wire, and of every piece.
 */
#ifndef APS_CUDA_PIECES_H
#define APS_CUDA_PIECES_H

#include "codec/codec.h"
#include "cuda/stream.h"

/* Pieces of values that are encoded separately begin at sectors of a GPU's
 * memory. */
#define APS_PIECE_MULTIPLE ((size_t)1024)

/* Returns the values of a piece. */
static inline size_t aps_piece_values(const struct aps_format *format)
{
    const struct aps_codec codec = {.format = *format};
    const size_t most = aps_codec_elements(&codec, APS_CUDA_STREAM_BYTES);

    return format->block > 1 ? most
                             : most / APS_PIECE_MULTIPLE * APS_PIECE_MULTIPLE;
}

/* Return, for the piece from value `at` on, the bytes in its slot that the
 * whole wire has elsewhere, ... */
static inline size_t aps_piece_repeated(const struct aps_format *format,
                                        size_t at)
{
    return at > 0 ? (size_t)format->piece_bytes : 0;
}

/* ... and the place of the others, of `count` values, in the whole wire. */
static inline size_t aps_piece_begin(const struct aps_format *format, size_t at)
{
    return aps_packed_bytes(format, at);
}

static inline size_t aps_piece_bytes(const struct aps_format *format, size_t at,
                                     size_t count)
{
    return aps_packed_bytes(format, count) - aps_piece_repeated(format, at);
}

#endif
