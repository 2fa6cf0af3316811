/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entropy of codes: the bits that an entropy coder after a codec would
 * send.
 */
#ifndef APS_CODEC_ENTROPY_H
#define APS_CODEC_ENTROPY_H

#include <stddef.h>

#include "codec/codec.h"

/* Wider codes are not counted. */
#define APS_ENTROPY_WIDTH 16

/* Returns the entropy, in bits a value, of the codes of x[n] with that scaling
 * and those options (NULL: to nearest): -sum of p log2 p over the codes, p
 * their frequencies among the n, without scales of blocks. NaN: n is 0, codes
 * are wider than APS_ENTROPY_WIDTH, or memory is short. */
double aps_codes_entropy(const struct aps_codec *codec, const float *x,
                         size_t n, struct aps_scaling scaling,
                         const struct aps_cast_options *options);

/* Returns the entropy of frequencies counts[codes] of n values, n > 0. */
double aps_entropy_of(const size_t *counts, size_t codes, size_t n);

#endif
