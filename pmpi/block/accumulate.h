/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of blocks in rank order: the arithmetic of `accumulate`.
 */
#ifndef APS_PMPI_BLOCK_ACCUMULATE_H
#define APS_PMPI_BLOCK_ACCUMULATE_H

#include <stddef.h>

#include "block/block.h"

/*
 * sum[n] = the sum of `count` blocks of n values, at blocks + i * stride, in
 * the order of i. v_i are the decoded values, Q the cast to the format of sums
 * at the block's scale:
 *
 *   fp32    s = v_0; s = s + v_i
 *   format  s = v_0; s = Q(s + v_i)
 *   chunks  of so many blocks (aps_wire.chunk, of `format`): each is summed by
 *           itself, c = v_0; c = Q(c + v_i) over its blocks; s = c of the first
 *           chunk; s = Q(s + c) (Wang et al. 2018, chunk-based accumulation)
 *   kahan   s = c = 0; y = Q(v_i - c); t = Q(s + y); c = Q(Q(t - s) - y); s = t
 *
 * where + and - are FP32 operations (CPD's sums, in FP32 containers). With
 * `format` and `kahan` all blocks have the same scale, or the formats' blocks of
 * values scale themselves; the scale of NVFP4's whole pieces is, in Q, one of
 * 4096 sums. *magnitude, unless NULL, is that of the sum; where the wire has
 * records and partial sums saturate, it is the greatest of theirs, too. All lie
 * in host memory.
 */
void aps_accumulate(const struct aps_wire *wire, int count,
                    const unsigned char *blocks, size_t stride, size_t n,
                    float *sum, struct aps_magnitude *magnitude);

/*
 * The record of such a sum, before it is cast: of its blocks, and of partial
 * sums that have overflowed. Zeros where the wire has no records. `magnitude` is
 * what aps_accumulate has found.
 */
struct aps_scale_record aps_accumulate_record(const struct aps_wire *wire,
                                              int count,
                                              const unsigned char *blocks,
                                              size_t stride,
                                              struct aps_magnitude magnitude);

/*
 * Encodes such a sum, like aps_block_encode, and returns its record before it is
 * cast. Of `sum` the length, the random key and the exponent are used. scratch[n] is
 * for the values, where they must be stored.
 *
 * `values`, unless NULL, is host memory that may take what the block is decoded to:
 * *decoded says whether it has. Where it has not, it may be overwritten all the same.
 */
struct aps_scale_record
aps_accumulate_encode(const struct aps_wire *wire, int count,
                      const unsigned char *blocks, size_t stride,
                      struct aps_block sum, float *scratch, unsigned char *to,
                      float *values, bool *decoded);

#endif
