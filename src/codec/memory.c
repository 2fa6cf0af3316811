/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "codec/memory.h"

#include <string.h>

#include "codec/stream.h"

static unsigned host_encode(const struct aps_codec *codec, const void *x,
                            size_t n, struct aps_scaling scaling,
                            const struct aps_cast_options *options, void *wire,
                            struct aps_encode_stats *stats)
{
    if (!stats)
        return codec->encode(codec, x, n, scaling, options, wire);
    return codec->encode_stats(codec, x, n, scaling, options, wire, stats);
}

static void host_decode(const struct aps_codec *codec, const void *wire,
                        size_t n, struct aps_scaling scaling, unsigned flags,
                        void *x)
{
    if (flags & APS_DECODE_STREAM)
        aps_stream_decode(codec, wire, n, scaling, flags, x);
    else
        codec->decode(codec, wire, n, scaling, flags, x);
}

static struct aps_magnitude host_magnitude(const void *x, size_t n)
{
    return aps_magnitude_of(x, n);
}

static void host_copy_out(float *host, const void *x, size_t n)
{
    memcpy(host, x, n * sizeof *host);
}

static void host_copy_in(void *x, const float *host, size_t n)
{
    memcpy(x, host, n * sizeof *host);
}

bool aps_device_takes(const struct aps_format *format)
{
    return format->levels == 0;
}

const struct aps_memory aps_memory_host = {
    .name = "host",
    .element = sizeof(float),
    .magnitude = host_magnitude,
    .encode = host_encode,
    .decode = host_decode,
    .copy_out = host_copy_out,
    .copy_in = host_copy_in,
};
