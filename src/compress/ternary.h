/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TernGrad (Wen et al.: TernGrad: Ternary Gradients to Reduce Communication in
 * Distributed Deep Learning, NeurIPS 2017; arXiv 1705.07878): a layer becomes
 * values -1, 0, 1 times a scaler that all ranks share, the owner of a slice
 * adds the ranks' values as integers, and sends its sums as integers.
 *
 * Ranks send five digits in a byte (3^5 = 243), owners send sums in ceil(log2(2
 * N + 1)) bits, for N ranks. Digits of a group of APS_TERNARY_GROUP values are
 * 64 bytes, and a vector may be cut between groups. Byte j of m holds the values
 * j, m + j, ... 4 m + j of the group, the first as its least digit. m is 64, or
 * ceil(n / 5) in a last group of n values. Missing values are 0.
 *
 * All functions give the same bits with every instruction set. The arithmetic
 * assumes the default floating point environment (round to nearest, no flush to
 * zero), which aps_fpenv_enter (base/fpenv.h) sets. Arrays need no alignment.
 */
#ifndef APS_COMPRESS_TERNARY_H
#define APS_COMPRESS_TERNARY_H

#include <stddef.h>
#include <stdint.h>

#include "aps.h"
#include "base/cpu.h"

#define APS_TERNARY_GROUP ((size_t)320)

/* The most ranks: sums fit into 16 bits. */
#define APS_TERNARY_RANKS 32767

/* Kinds of contents of a layer. */
enum aps_ternary_kind {
    APS_TERNARY_VALUES,
    APS_TERNARY_ZERO,     /* only 0: the scaler is 0 */
    APS_TERNARY_NONFINITE /* an INF or a NaN: no scaler, not encoded */
};

/* Scaling of a rank's layer. */
struct aps_ternary_scale {
    float limit;  /* values are clipped to -limit ... limit */
    float scaler; /* the greatest magnitude of the clipped values (Eq. 2) */
};

/*
 * Measures the scale of x[n]. The limit is clip * sigma, sigma the standard
 * deviation of x about its mean (section 3.2 has clip = 2.5), unless clip is 0
 * or all values are equal (sigma is at most 2^-20 of the greatest magnitude):
 * then it is the greatest magnitude. The sums of x and of x^2 are in FP64 and
 * 16 lanes: element i goes to lane i mod 16, and lanes 8, 4, 2 and 1 apart are
 * added; sigma^2 is their difference sum(x^2) / n - (sum(x) / n)^2 in FP64.
 *
 * Values are encoded with the greatest scaler of all ranks (Eq. 4). *scale is
 * written unless the layer is not finite.
 */
enum aps_ternary_kind aps_ternary_measure(const float *x, size_t n, float clip,
                                          enum aps_cpu cpu,
                                          struct aps_ternary_scale *scale);

/* Measures delta[n] = g[n] + e[n], one FP32 addition each, and writes it in any
 * case: one pass over the three. delta may be g or e. */
enum aps_ternary_kind aps_ternary_measure_sum(const float *g, const float *e,
                                              size_t n, float clip,
                                              enum aps_cpu cpu, float *delta,
                                              struct aps_ternary_scale *scale);

/* Returns the bytes of n digits: ceil(n / 5). */
size_t aps_ternary_bytes(size_t n);

/*
 * Encodes x[n], finite, to digits: sign(x) with the probability min(|x|, limit)
 * / scaler, or else 0 (Eq. 1, 3). `scaler` is not less than scale->scaler, and
 * above 0. Element i is drawn by the bits of number options->offset + i of the
 * stream of `options` (aps.h), whose rank is the sender's. Let y be min(|x|,
 * limit) * 2^p / (scaler * 2^p), in FP32 by the reciprocal, with p such that the
 * reciprocal is neither subnormal nor INF. The digit is not 0 if y >= 1 or if
 * floor(y * 2^31) + floor(bits / 2) >= 2^31. The probability has a relative
 * error of at most 2^-23.
 */
void aps_ternary_encode(const float *x, size_t n, float limit, float scaler,
                        const struct aps_cast_options *options,
                        enum aps_cpu cpu, uint8_t *digits);

/* Writes the digits of aps_ternary_encode, and in the same pass x[n] becomes
 * the residual: x minus the digits' values times the scaler, the contribution of
 * a rank. */
void aps_ternary_take(float *x, size_t n, float limit, float scaler,
                      const struct aps_cast_options *options, enum aps_cpu cpu,
                      uint8_t *digits);

/* sum[n] += the digits' values; exact for APS_TERNARY_RANKS ranks. */
void aps_ternary_add(const uint8_t *digits, size_t n, enum aps_cpu cpu,
                     int16_t *sum);

#endif
