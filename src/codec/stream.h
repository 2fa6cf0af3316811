/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding past the caches, by streaming stores: for what nobody reads soon
 * (base/cache.h).
 */
#ifndef APS_CODEC_STREAM_H
#define APS_CODEC_STREAM_H

#include <stddef.h>

#include "codec/ops.h"

/* As codec->decode, with the same bits; other threads and processes see them as
 * they see what ordinary stores have written. */
void aps_stream_decode(const struct aps_codec *codec, const void *wire,
                       size_t n, struct aps_scaling scaling, unsigned flags,
                       float *x);

#endif
