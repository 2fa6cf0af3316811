/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of blocks in rank order: the arithmetic of `accumulate`.
 */
#ifndef APS_PMPI_BLOCK_ACCUMULATE_H
#define APS_PMPI_BLOCK_ACCUMULATE_H

#include <stddef.h>

#include "block/block.h"

/*
 * Sets sum[n] to the sum of `count` blocks of n values, at blocks + i * stride,
 * in the order of i. v_i are the decoded values, and Q is the cast to the
 * format of sums at the block's scale:
 *
 *   fp32    s = v_0; s = s + v_i; in FP64 if wire->fp64, and then rounded to FP32
 *           unless the format is wide
 *   format  s = v_0; s = Q(s + v_i)
 *   chunks  of aps_wire.chunk blocks (with `format`): each chunk has its own
 *           sum, c = v_0; c = Q(c + v_i) over its blocks; s = c of the first
 *           chunk; s = Q(s + c) (Wang et al. 2018, chunk-based accumulation)
 *   kahan   s = c = 0; y = Q(v_i - c); t = Q(s + y); c = Q(Q(t - s) - y); s = t
 *
 * where other + and - are FP32 operations (CPD's sums, in FP32 containers). With
 * `format` and `kahan` all blocks have the same scale, or the format scales
 * parts of a block itself. The scale of NVFP4's whole pieces is, in Q, the
 * scale of 4096 sums.
 *
 * sum[n] are floats, or doubles if the format is wide.
 *
 * *magnitude, unless NULL, is the magnitude of the sum, or {0, true} if the format is
 * wide. If the wire has records and partial sums saturate, it covers the partial sums,
 * too. All arrays lie in host memory.
 */
void aps_accumulate(const struct aps_wire *wire, int count,
                    const unsigned char *blocks, size_t stride, size_t n,
                    void *sum, struct aps_magnitude *magnitude);

/*
 * Returns the record of such a sum, before the sum is cast: the record of its
 * blocks, and of partial sums that have overflowed. Zeros if the wire has no
 * records. `magnitude` is the one that aps_accumulate has found.
 */
struct aps_scale_record aps_accumulate_record(const struct aps_wire *wire,
                                              int count,
                                              const unsigned char *blocks,
                                              size_t stride,
                                              struct aps_magnitude magnitude);

/*
 * Encodes such a sum, like aps_block_encode, and returns its record before it
 * is cast. Uses the length, the random key and the exponent of `sum`.
 * scratch[n] is for the values if they must be stored.
 *
 * `values`, unless NULL, is host memory for the values to which the block is
 * decoded. *decoded is true if they were written there. Otherwise `values` may
 * hold any values.
 */
struct aps_scale_record
aps_accumulate_encode(const struct aps_wire *wire, int count,
                      const unsigned char *blocks, size_t stride,
                      struct aps_block sum, void *scratch, unsigned char *to,
                      float *values, bool *decoded);

#endif
