/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "codec/stream.h"

#include <stdint.h>
#include <string.h>

#include "base/cache.h"
#include "base/size_min.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__x86_64__)
#define LINE                                                                   \
    APS_CACHE_LINE /* writing a part of a line costs as much as all of
                               it */

/* to[bytes] = from[bytes], with the source preferably in a cache. */
static void stream_copy(unsigned char *to, const unsigned char *from,
                        size_t bytes)
{
    const size_t head = aps_size_min(-(uintptr_t)to % LINE, bytes);
    size_t i = head;

    memcpy(to, from, head);
    for (; bytes - i >= LINE; i += LINE) {
        const __m128i a = _mm_loadu_si128((const void *)(from + i));
        const __m128i b = _mm_loadu_si128((const void *)(from + i + 16));
        const __m128i c = _mm_loadu_si128((const void *)(from + i + 32));
        const __m128i d = _mm_loadu_si128((const void *)(from + i + 48));

        _mm_stream_si128((void *)(to + i), a);
        _mm_stream_si128((void *)(to + i + 16), b);
        _mm_stream_si128((void *)(to + i + 32), c);
        _mm_stream_si128((void *)(to + i + 48), d);
    }
    memcpy(to + i, from + i, bytes - i);
}

/* Decodes by the codec itself, except the values before a cache line, if those
 * end at a byte of the wire. Returns false, and writes nothing, if the codec
 * cannot. */
static bool stream_by_codec(const struct aps_codec *codec,
                            const unsigned char *wire, size_t n,
                            struct aps_scaling scaling, unsigned flags,
                            float *x)
{
    const size_t before = -(uintptr_t)x % LINE;
    const size_t head = aps_size_min(before / sizeof *x, n);
    const size_t bits = head * (size_t)codec->format.width;

    if (!codec->stream || before % sizeof *x > 0 || bits % 8 > 0 ||
        !codec->stream(codec, wire + bits / 8, n - head, scaling, flags,
                       x + head))
        return false;
    codec->decode(codec, wire, head, scaling, flags, x);
    return true;
}

/* Decodes in tiles that the L1 cache holds and that are multiples of every
 * granule. */
static void stream_by_tiles(const struct aps_codec *codec,
                            const unsigned char *wire, size_t n,
                            struct aps_scaling scaling, unsigned flags,
                            float *x)
{
    const size_t granule = aps_codec_granule(codec);
    const size_t tile = APS_FORMAT_GRANULE_MAX / granule * granule;
    float values[APS_FORMAT_GRANULE_MAX];

    for (size_t i = 0; i < n; i += tile) {
        const size_t count = aps_size_min(n - i, tile);

        codec->decode(codec, wire + aps_codec_bytes(codec, i), count, scaling,
                      flags, values);
        stream_copy((unsigned char *)(x + i), (const unsigned char *)values,
                    count * sizeof *x);
    }
}

void aps_stream_decode(const struct aps_codec *codec, const void *wire,
                       size_t n, struct aps_scaling scaling, unsigned flags,
                       float *x)
{
    /* A scale of the whole array comes first, so that it cannot be decoded in
     * parts. */
    if (codec->format.piece_bytes > 0) {
        codec->decode(codec, wire, n, scaling, flags, x);
        return;
    }
    if (!stream_by_codec(codec, wire, n, scaling, flags, x))
        stream_by_tiles(codec, wire, n, scaling, flags, x);
    /* Ordinary stores become visible in order, streaming stores do not. */
    _mm_sfence();
}

void aps_stream_copy(void *to, const void *from, size_t bytes)
{
    stream_copy(to, from, bytes);
    _mm_sfence();
}
#else
void aps_stream_decode(const struct aps_codec *codec, const void *wire,
                       size_t n, struct aps_scaling scaling, unsigned flags,
                       float *x)
{
    codec->decode(codec, wire, n, scaling, flags, x);
}

void aps_stream_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif
