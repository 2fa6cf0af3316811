/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "codec/ops.h"

#define NARROWEST 2 /* bits of a value: e1m0 */

size_t aps_codec_bytes(const struct aps_codec *codec, size_t n)
{
    return aps_packed_bytes(&codec->format, n);
}

static size_t codec_gcd(size_t a, size_t b)
{
    while (b > 0) {
        const size_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

size_t aps_codec_granule(const struct aps_codec *codec)
{
    const size_t block = (size_t)codec->format.block;

    return APS_CODEC_GRANULE / codec_gcd(APS_CODEC_GRANULE, block) * block;
}

size_t aps_codec_elements(const struct aps_codec *codec, size_t bytes)
{
    const size_t granule = aps_codec_granule(codec);

    return bytes / aps_codec_bytes(codec, granule) * granule;
}

size_t aps_codec_elements_fp32(size_t bytes)
{
    return bytes / (APS_CODEC_GRANULE * sizeof(float)) * APS_CODEC_GRANULE;
}

size_t aps_codec_elements_most(size_t bytes)
{
    return bytes / (APS_CODEC_GRANULE * NARROWEST / 8) * APS_CODEC_GRANULE;
}
