/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding and copying past the caches, by streaming stores: for what nobody on this
 * core reads soon (base/cache.h).
 */
#ifndef APS_CODEC_STREAM_H
#define APS_CODEC_STREAM_H

#include <stddef.h>

#include "kernel/ops.h"

/* As codec->decode, with the same bits; other threads and processes see them as
 * they see what ordinary stores have written. */
void aps_stream_decode(const struct aps_codec *codec, const void *wire,
                       size_t n, struct aps_scaling scaling, unsigned flags,
                       float *x);

/* to[bytes] = from[bytes], which do not overlap, past the caches: for what another
 * core reads next, and has read before. Seen like ordinary stores. Without streaming
 * stores memcpy. */
void aps_stream_copy(void *to, const void *from, size_t bytes);

#endif
