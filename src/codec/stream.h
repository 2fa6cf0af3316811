/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding and copying by streaming stores, which bypass the caches: for data
 * that this core does not read soon (base/cache.h).
 */
#ifndef APS_CODEC_STREAM_H
#define APS_CODEC_STREAM_H

#include <stddef.h>

#include "kernel/ops.h"

/* Decodes like codec->decode, with the same bits. Other threads and processes
 * see the values like those of ordinary stores. */
void aps_stream_decode(const struct aps_codec *codec, const void *wire,
                       size_t n, struct aps_scaling scaling, unsigned flags,
                       float *x);

/* to[bytes] = from[bytes], which do not overlap, by streaming stores: for data
 * that another core reads next, and has read before. Visible like ordinary
 * stores. memcpy if there are no streaming stores. */
void aps_stream_copy(void *to, const void *from, size_t bytes);

#endif
