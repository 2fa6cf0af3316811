/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of aps_gemm (aps.h), one for every instruction set. All give
 * identical bits.
 *
 * A kernel adds the products of one block to the partial sums of a block of C:
 * adjacent columns in vectors, and each element's terms one after the other in
 * the order of k. Blocks are small enough that B and the sums stay in the
 * caches.
 */
#ifndef APS_NUMBER_GEMM_KERNEL_H
#define APS_NUMBER_GEMM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cpu.h"
#include "number/quantize.h"

/* The largest block, and the vector to whose multiples columns are padded. */
#define APS_GEMM_ROWS 128
#define APS_GEMM_COLUMNS 256
#define APS_GEMM_DEPTH 256
#define APS_GEMM_VECTOR 16

struct aps_gemm_block {
    struct aps_quantizer product;
    struct aps_quantizer sum;
    bool kahan;
    size_t chunk; /* terms of a chunk; 0: one sum */
    size_t at; /* terms of the current chunk that earlier blocks have added */
    bool last; /* the block ends the sums */
    size_t rows;
    size_t columns; /* a multiple of APS_GEMM_VECTOR; the last ones are zeros */
    size_t depth;
    size_t group; /* terms that are first added in FP64: a block of formats in
                     blocks; 1: each product is a term */
    float *a;     /* rows x depth; the kernel rounds it to the format */
    float *b;     /* depth x columns; the kernel rounds it to the format */
    float *s;     /* rows x columns: partial sums, ... */
    float *c;     /* ... and compensations if `kahan`, totals of whole chunks if
                     there are chunks */
};

/* s = R(s + Q(Q(a) * Q(b))) over the block, or its sum by Kahan; at the end of
 * a chunk c = R(c + s), s = 0. Q does not change operands that have been rounded
 * stochastically. */
typedef void (*aps_gemm_fn)(const struct aps_gemm_block *block);

/* Returns the kernel for an instruction set, or NULL if the set is not
 * supported. */
aps_gemm_fn aps_gemm_kernel(enum aps_cpu cpu);

/* Returns the kernel for formats in blocks: a and b are rounded already, and
 * depth is a multiple of `group` except at the end. A step is s = R(s + t). t is
 * the sum of the products of a group in FP64, from 0 in the order of k, rounded
 * to FP32. Chunks count groups. */
aps_gemm_fn aps_gemm_blocks_kernel(enum aps_cpu cpu);

#endif
