/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constants of a format in blocks, and the scale of a block, with which values
 * are encoded and decoded. bfp.h, mx.h and nvfp4.h show, value by value, how
 * each family chooses scales and rounds values.
 *
 * Valid C++, too, because CUDA C shares all of them.
 */
#ifndef APS_BLOCKWISE_BLOCK_SCALE_H
#define APS_BLOCKWISE_BLOCK_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"

/* Values that a family computes once for a piece. */
struct aps_block_kernel {
    struct aps_format format;
    struct aps_kernel element; /* if elements are floats */
    int emax;                  /* exponent of the largest element */
    float piece;               /* scale of the whole piece, or 0 */
};

/* The scale of a block. */
struct aps_block_scale {
    uint32_t code;
    bool nan;     /* all values are NaN, whatever their codes */
    bool zero;    /* all values are +0 */
    float factor; /* factor of values, when encoded, or of elements, when
                     decoded */
    int exponent; /* values times 2^exponent are rounded to an integer, or to an
                     element */
};

/* 2^exponent, -149 <= exponent <= 127, subnormal below -126. */
APS_INLINE float aps_blocks_pow2(int exponent)
{
    return aps_float_from_bits(exponent < -126
                                   ? 1u << (exponent + 149)
                                   : (uint32_t)(exponent + 127) << 23);
}

#endif
