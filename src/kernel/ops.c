/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kernel/ops.h"

/* Bits of a value of e1m0. Messages of narrower formats are not full, so that
 * buffers of floats need not be longer for them. */
#define NARROWEST 2

size_t aps_codec_bytes(const struct aps_codec *codec, size_t n)
{
    return aps_packed_bytes(&codec->format, n);
}

size_t aps_codec_granule(const struct aps_codec *codec)
{
    return aps_format_granule(&codec->format);
}

size_t aps_codec_elements(const struct aps_codec *codec, size_t bytes)
{
    const size_t granule = aps_codec_granule(codec);
    const size_t piece = (size_t)codec->format.piece_bytes;
    const size_t each = aps_codec_bytes(codec, granule) - piece;
    const size_t most = aps_codec_elements_max(bytes) / granule * granule;
    const size_t n = bytes < piece ? 0 : (bytes - piece) / each * granule;

    return n < most ? n : most;
}

size_t aps_codec_elements_fp32(const struct aps_codec *codec, size_t bytes)
{
    const size_t granule = aps_codec_granule(codec);

    return bytes / (granule * aps_format_value_bytes(&codec->format)) * granule;
}

size_t aps_codec_elements_max(size_t bytes)
{
    return bytes / (APS_CODEC_GRANULE * NARROWEST / 8) * APS_CODEC_GRANULE;
}
