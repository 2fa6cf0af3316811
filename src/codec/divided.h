/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verbs of memory and of codecs over long vectors in parts, which the worker
 * threads share (codec/workers.h). Bytes, values and flags are those of the verb
 * itself. GPU memory, and formats with a scale of the whole block, are not
 * divided.
 */
#ifndef APS_CODEC_DIVIDED_H
#define APS_CODEC_DIVIDED_H

#include <stdatomic.h>

#include "codec/memory.h"

/* Magnitude to which parts add theirs at the same time. */
struct aps_divided_magnitude {
    atomic_uint max; /* bits of the greatest finite magnitude */
    atomic_bool infinite;
};
void aps_divided_magnitude_add(struct aps_divided_magnitude *sum,
                               struct aps_magnitude more);
struct aps_magnitude
aps_divided_magnitude_get(const struct aps_divided_magnitude *sum);

/* Returns a multiple of the codec's granule, for the bounds of parts; SIZE_MAX
 * if the format's values cannot be divided. */
size_t aps_divided_unit(const struct aps_codec *codec);

struct aps_magnitude aps_divided_magnitude(const struct aps_memory *memory,
                                           const void *x, size_t n);

/* encode without statistics. */
unsigned aps_divided_encode(const struct aps_memory *memory,
                            const struct aps_codec *codec, const void *x,
                            size_t n, struct aps_scaling scaling,
                            const struct aps_cast_options *options, void *wire);

void aps_divided_decode(const struct aps_memory *memory,
                        const struct aps_codec *codec, const void *wire,
                        size_t n, struct aps_scaling scaling, unsigned flags,
                        void *x);

#endif
