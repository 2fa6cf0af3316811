/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cast of CPD, the emulator of the APS paper, with all its quirks
 * (github.com/drcut/CPD, CPDtorch/quant/quant_cuda/float_kernel.cu, as an
 * NVIDIA GPU executes it). Written from this description:
 *
 * 1. 0, INF and NaN stay unchanged; subnormal floats become +0, whatever
 *    their sign.
 * 2. A value of the format's largest exponent plus one, or more, is INF.
 *    Overflow is not checked after rounding.
 * 3. In the normal range the 24-bit significand is rounded to M + 1 bits, ties
 *    to even. If it carries out of the largest exponent the result is the power
 *    of two above, a float that the format does not have.
 * 4. Below, the significand is first shifted to the smallest exponent, and the
 *    bits that leave its 24 bits are lost: no sticky bit. Then it is rounded in
 *    the same way, except for M = 23, where no bit is left to round by.
 */
#ifndef APS_NUMBER_CPD_H
#define APS_NUMBER_CPD_H

#include "number/format.h"
#include "number/bits.h"

/* Rounds a 24-bit significand to its upper M + 1 bits, ties to even. */
APS_INLINE uint32_t aps_cpd_round(uint32_t significand, int mantissa_bits)
{
    uint32_t unit = 1u << (APS_FLOAT_MANTISSA_BITS - mantissa_bits);
    uint32_t odd = (significand & unit) != 0;
    uint32_t carry = unit > 1 ? unit / 2 - 1 + odd : 0;

    return (significand + carry) & ~(unit - 1);
}

/* Returns the bit pattern of the cast of the float with this bit pattern. The
 * format is of kind APS_FORMAT_IEEE. */
APS_INLINE uint32_t aps_cpd_cast(const struct aps_format *format, uint32_t bits)
{
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t sign = bits & APS_FLOAT_SIGN;
    int e = (int)(magnitude >> APS_FLOAT_MANTISSA_BITS) - APS_FLOAT_BIAS;
    int smallest = 1 - format->bias;

    if (magnitude == 0 || magnitude >= APS_FLOAT_INF)
        return bits;
    if (magnitude < 0x800000u)
        return 0;
    if (e > format->bias)
        return sign | APS_FLOAT_INF;

    int shift = e < smallest ? smallest - e : 0;
    uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    uint32_t kept = shift < 24 ? significand >> shift : 0;
    uint32_t rounded = aps_cpd_round(kept, format->mantissa_bits);
    int scale =
        e + shift - APS_FLOAT_MANTISSA_BITS; /* its last bit's exponent */

    /* exact: 2^(scale + 24) is below 2^-126 for no format, since floats that
     * small have E = 8 and no shift */
    return sign |
           aps_float_bits((float)(int32_t)rounded * aps_float_pow2(scale / 2) *
                          aps_float_pow2(scale - scale / 2));
}

/* Casts x * 2^exponent, rounded to float, and multiplies by 2^-exponent,
 * rounded to float: `power` is 2^exponent and `inverse` 2^-exponent. 0, INF and
 * NaN stay unchanged, with all bits. */
APS_INLINE uint32_t aps_cpd_cast_scaled(const struct aps_format *format,
                                        uint32_t bits, double power,
                                        double inverse)
{
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    float product = (float)(aps_float_from_bits(bits) * power);

    if (magnitude == 0 || magnitude >= APS_FLOAT_INF || power == 1)
        return aps_cpd_cast(format, bits);
    bits = aps_cpd_cast(format, aps_float_bits(product));
    return aps_float_bits((float)(aps_float_from_bits(bits) * inverse));
}

#endif
