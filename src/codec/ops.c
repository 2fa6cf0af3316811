/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "codec/ops.h"

size_t aps_codec_bytes(const struct aps_codec *codec, size_t n)
{
    return aps_packed_bytes(&codec->format, n);
}
