/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floats as bit patterns, and exact powers of two. No libc calls, for use in
 * vectorised loops, in C and in CUDA C.
 */
#ifndef APS_NUMBER_BITS_H
#define APS_NUMBER_BITS_H

#include <stdint.h>

#if defined(__CUDACC__)
#define APS_INLINE static __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define APS_INLINE static inline __attribute__((always_inline))
#else
#define APS_INLINE static inline
#endif

/* Fields of a float's bit pattern. */
#define APS_FLOAT_SIGN 0x80000000u
#define APS_FLOAT_INF 0x7f800000u /* magnitudes above it are NaN */
#define APS_FLOAT_QUIET 0x00400000u
#define APS_FLOAT_NAN (APS_FLOAT_INF | APS_FLOAT_QUIET) /* canonical */
#define APS_FLOAT_MANTISSA_BITS 23
#define APS_FLOAT_BIAS 127

APS_INLINE uint32_t aps_float_bits(float x)
{
    union {
        float value;
        uint32_t bits;
    } u;
    u.value = x;
    return u.bits;
}

APS_INLINE float aps_float_from_bits(uint32_t bits)
{
    union {
        uint32_t bits;
        float value;
    } u;
    u.bits = bits;
    return u.value;
}

/* 2^exponent as a float, -126 <= exponent <= 127. */
APS_INLINE float aps_float_pow2(int exponent)
{
    return aps_float_from_bits((uint32_t)(exponent + APS_FLOAT_BIAS)
                               << APS_FLOAT_MANTISSA_BITS);
}

APS_INLINE uint64_t aps_double_bits(double x)
{
    union {
        double value;
        uint64_t bits;
    } u;
    u.value = x;
    return u.bits;
}

APS_INLINE double aps_double_from_bits(uint64_t bits)
{
    union {
        uint64_t bits;
        double value;
    } u;
    u.bits = bits;
    return u.value;
}

/* Returns a < b ? yes : no, for operands below 2^31: SSE2 and AVX2 have no
 * unsigned comparison. */
APS_INLINE uint32_t aps_bits_less(uint32_t a, uint32_t b, uint32_t yes,
                                  uint32_t no)
{
    return (int32_t)a < (int32_t)b ? yes : no;
}

/* 2^exponent as a double, -1022 <= exponent <= 1023. */
APS_INLINE double aps_double_pow2(int exponent)
{
    return aps_double_from_bits((uint64_t)(exponent + 1023) << 52);
}

#endif
