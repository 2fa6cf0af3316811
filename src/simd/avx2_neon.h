/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The instructions of AVX2, F16C and FMA that the kernels *_avx2.h use, on
 * 64-bit Arm: a vector of 256 bits is a pair of NEON's. Results are those of
 * x86-64, bit for bit, except the sign and payload of a NaN that arithmetic
 * makes, and min_ps and max_ps of NaN and zeros. FPCR has its initial value,
 * and compilers do not fuse operations (KERNEL_CFLAGS in configure.ac). Orders
 * and comparisons are those that the kernels use: others do not compile.
 */
#ifndef APS_SIMD_AVX2_NEON_H
#define APS_SIMD_AVX2_NEON_H

#include <arm_neon.h>
#include <stdint.h>

#include "number/bits.h"

typedef int32x4_t __m128i;

typedef struct {
    int32x4_t low, high;
} __m256i;

typedef struct {
    float32x4_t low, high;
} __m256;

/* Defines a function that returns an expression. */
#define APS_NEON(result, name, arguments, ...)                                 \
    APS_INLINE result name arguments                                           \
    {                                                                          \
        return __VA_ARGS__;                                                    \
    }
#define APS_NEON_PAIR(a, b) ((__m256i){(int32x4_t)(a), (int32x4_t)(b)})

/* --- casts, constants and memory ------------------------------------------ */

APS_NEON(__m256i, _mm256_castps_si256, (__m256 a), APS_NEON_PAIR(a.low, a.high))
APS_NEON(__m256, _mm256_castsi256_ps, (__m256i a),
         (__m256){(float32x4_t)a.low, (float32x4_t)a.high})
APS_NEON(__m128i, _mm256_castsi256_si128, (__m256i a), a.low)
APS_NEON(__m256i, _mm256_castsi128_si256, (__m128i a), (__m256i){a, a})
APS_NEON(__m256i, _mm256_broadcastsi128_si256, (__m128i a), (__m256i){a, a})
APS_NEON(__m128i, _mm256_extracti128_si256, (__m256i a, int high),
         high & 1 ? a.high : a.low)
APS_NEON(__m256i, _mm256_inserti128_si256, (__m256i a, __m128i b, int high),
         high & 1 ? (__m256i){a.low, b} : (__m256i){b, a.high})
APS_NEON(__m128i, _mm_cvtsi32_si128, (int x),
         vsetq_lane_s32(x, vdupq_n_s32(0), 0))
APS_NEON(int, _mm_cvtsi128_si32, (__m128i a), vgetq_lane_s32(a, 0))

/* An int, because `char` has no sign here. */
APS_NEON(__m256i, _mm256_set1_epi8, (int x),
         APS_NEON_PAIR(vdupq_n_s8((int8_t)x), vdupq_n_s8((int8_t)x)))
APS_NEON(__m256i, _mm256_set1_epi16, (short x),
         APS_NEON_PAIR(vdupq_n_s16(x), vdupq_n_s16(x)))
APS_NEON(__m256i, _mm256_set1_epi32, (int x),
         APS_NEON_PAIR(vdupq_n_s32(x), vdupq_n_s32(x)))
APS_NEON(__m256i, _mm256_set1_epi64x, (long long x),
         APS_NEON_PAIR(vdupq_n_s64(x), vdupq_n_s64(x)))
APS_NEON(__m256, _mm256_set1_ps, (float x),
         (__m256){vdupq_n_f32(x), vdupq_n_f32(x)})
APS_NEON(__m256i, _mm256_setzero_si256, (void), _mm256_set1_epi32(0))
APS_NEON(__m256, _mm256_setzero_ps, (void), _mm256_set1_ps(0))
APS_NEON(__m256i, _mm256_setr_epi32,
         (int a, int b, int c, int d, int e, int f, int g, int h),
         (__m256i){{a, b, c, d}, {e, f, g, h}})
APS_NEON(__m256i, _mm256_setr_epi64x,
         (long long a, long long b, long long c, long long d),
         APS_NEON_PAIR(((int64x2_t){a, b}), ((int64x2_t){c, d})))

APS_NEON(__m128i, _mm_loadu_si128, (const void *from),
         (int32x4_t)vld1q_u8(from))
APS_NEON(__m256i, _mm256_loadu_si256, (const void *from),
         APS_NEON_PAIR(vld1q_u8(from), vld1q_u8((const uint8_t *)from + 16)))
APS_NEON(__m256, _mm256_loadu_ps, (const void *from),
         _mm256_castsi256_ps(_mm256_loadu_si256(from)))

APS_INLINE void _mm_storeu_si128(void *to, __m128i a)
{
    vst1q_u8(to, (uint8x16_t)a);
}

#define APS_NEON_STORE(name, vector)                                           \
    APS_INLINE void _mm256_##name(void *to, vector a)                          \
    {                                                                          \
        vst1q_u8(to, (uint8x16_t)a.low);                                       \
        vst1q_u8((uint8_t *)to + 16, (uint8x16_t)a.high);                      \
    }

APS_NEON_STORE(storeu_si256, __m256i)
APS_NEON_STORE(storeu_ps, __m256)
APS_NEON_STORE(stream_ps, __m256)

APS_INLINE void _mm_sfence(void)
{
    __asm__ volatile("dmb ishst" : : : "memory");
}

/* --- operations on halves ------------------------------------------------- */

/* Define a function by an expression of halves a and b. */
#define APS_NEON_INTEGERS(name, type, ...)                                     \
    APS_NEON(int32x4_t, aps_neon_##name, (type a, type b),                     \
             (int32x4_t)(__VA_ARGS__))                                         \
    APS_NEON(__m256i, _mm256_##name, (__m256i a, __m256i b),                   \
             (__m256i){aps_neon_##name((type)a.low, (type)b.low),              \
                       aps_neon_##name((type)a.high, (type)b.high)})
#define APS_NEON_FLOATS(name, ...)                                             \
    APS_NEON(float32x4_t, aps_neon_##name, (float32x4_t a, float32x4_t b),     \
             (float32x4_t)(__VA_ARGS__))                                       \
    APS_NEON(__m256, _mm256_##name, (__m256 a, __m256 b),                      \
             (__m256){aps_neon_##name(a.low, b.low),                           \
                      aps_neon_##name(a.high, b.high)})

APS_NEON_INTEGERS(add_epi32, int32x4_t, vaddq_s32(a, b))
APS_NEON_INTEGERS(add_epi64, int64x2_t, vaddq_s64(a, b))
APS_NEON_INTEGERS(and_si256, int32x4_t, vandq_s32(a, b))
APS_NEON_INTEGERS(andnot_si256, int32x4_t, vbicq_s32(b, a))
APS_NEON_INTEGERS(cmpeq_epi32, int32x4_t, vceqq_s32(a, b))
APS_NEON_INTEGERS(cmpgt_epi32, int32x4_t, vcgtq_s32(a, b))
APS_NEON_INTEGERS(cmpgt_epi8, int8x16_t, vcgtq_s8(a, b))
APS_NEON_INTEGERS(madd_epi16, int16x8_t,
                  vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)),
                             vmull_high_s16(a, b)))
/* a has unsigned bytes, and b signed ones */
APS_NEON_INTEGERS(maddubs_epi16, int16x8_t,
                  vqaddq_s16(vmulq_s16(vandq_s16(a, vdupq_n_s16(0xff)),
                                       vshrq_n_s16(vshlq_n_s16(b, 8), 8)),
                             vmulq_s16((int16x8_t)((uint16x8_t)a >> 8),
                                       b >> 8)))
APS_NEON_INTEGERS(max_epi32, int32x4_t, vmaxq_s32(a, b))
APS_NEON_INTEGERS(max_epu32, uint32x4_t, vmaxq_u32(a, b))
APS_NEON_INTEGERS(max_epu8, uint8x16_t, vmaxq_u8(a, b))
APS_NEON_INTEGERS(min_epu16, uint16x8_t, vminq_u16(a, b))
APS_NEON_INTEGERS(min_epu32, uint32x4_t, vminq_u32(a, b))
APS_NEON_INTEGERS(min_epu8, uint8x16_t, vminq_u8(a, b))
APS_NEON_INTEGERS(or_si256, int32x4_t, vorrq_s32(a, b))
APS_NEON_INTEGERS(packs_epi16, int16x8_t, vqmovn_high_s16(vqmovn_s16(a), b))
APS_NEON_INTEGERS(packs_epi32, int32x4_t, vqmovn_high_s32(vqmovn_s32(a), b))
APS_NEON_INTEGERS(packus_epi16, int16x8_t, vqmovun_high_s16(vqmovun_s16(a), b))
APS_NEON_INTEGERS(packus_epi32, int32x4_t, vqmovun_high_s32(vqmovun_s32(a), b))
APS_NEON_INTEGERS(shuffle_epi8, uint8x16_t,
                  vqtbl1q_u8(a, vandq_u8(b, vdupq_n_u8(0x8f))))
APS_NEON_INTEGERS(
    srlv_epi32, uint32x4_t,
    vshlq_u32(a, vnegq_s32((int32x4_t)vminq_u32(b, vdupq_n_u32(32)))))
APS_NEON_INTEGERS(sub_epi16, int16x8_t, vsubq_s16(a, b))
APS_NEON_INTEGERS(sub_epi32, int32x4_t, vsubq_s32(a, b))
APS_NEON_INTEGERS(sub_epi8, int8x16_t, vsubq_s8(a, b))
APS_NEON_INTEGERS(unpackhi_epi16, int16x8_t, vzip2q_s16(a, b))
APS_NEON_INTEGERS(unpackhi_epi32, int32x4_t, vzip2q_s32(a, b))
APS_NEON_INTEGERS(unpackhi_epi64, int64x2_t, vzip2q_s64(a, b))
APS_NEON_INTEGERS(unpackhi_epi8, int8x16_t, vzip2q_s8(a, b))
APS_NEON_INTEGERS(unpacklo_epi16, int16x8_t, vzip1q_s16(a, b))
APS_NEON_INTEGERS(unpacklo_epi32, int32x4_t, vzip1q_s32(a, b))
APS_NEON_INTEGERS(unpacklo_epi64, int64x2_t, vzip1q_s64(a, b))
APS_NEON_INTEGERS(unpacklo_epi8, int8x16_t, vzip1q_s8(a, b))
APS_NEON_INTEGERS(xor_si256, int32x4_t, veorq_s32(a, b))
APS_NEON(__m128i, _mm_max_epi32, (__m128i a, __m128i b), vmaxq_s32(a, b))
APS_NEON(__m128i, _mm_packus_epi16, (__m128i a, __m128i b),
         aps_neon_packus_epi16((int16x8_t)a, (int16x8_t)b))

#define _mm256_cmp_ps(a, b, predicate) _mm256_cmp##predicate(a, b)
APS_NEON_FLOATS(add_ps, vaddq_f32(a, b))
APS_NEON_FLOATS(and_ps, vandq_s32((int32x4_t)a, (int32x4_t)b))
APS_NEON_FLOATS(cmp_CMP_GT_OQ, vcgtq_f32(a, b))
APS_NEON_FLOATS(cmp_CMP_UNORD_Q,
                vmvnq_u32(vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b))))
APS_NEON_FLOATS(div_ps, vdivq_f32(a, b))
APS_NEON_FLOATS(mul_ps, vmulq_f32(a, b))
APS_NEON_FLOATS(sub_ps, vsubq_f32(a, b))
/* AVX2's result is the second operand if one is NaN, or both are zeros. These give NaN
 * if the first is a signalling NaN or the second is NaN, and the lesser or greater
 * zero: the kernels do not use such results, and two instructions are saved. */
APS_NEON_FLOATS(max_ps, vmaxnmq_f32(a, b))
APS_NEON_FLOATS(min_ps, vminnmq_f32(a, b))

APS_NEON(__m256, _mm256_fmadd_ps, (__m256 a, __m256 b, __m256 c),
         (__m256){vfmaq_f32(c.low, a.low, b.low),
                  vfmaq_f32(c.high, a.high, b.high)})
APS_NEON(__m256, _mm256_blendv_ps, (__m256 a, __m256 b, __m256 mask),
         (__m256){vbslq_f32(vcltzq_s32((int32x4_t)mask.low), b.low, a.low),
                  vbslq_f32(vcltzq_s32((int32x4_t)mask.high), b.high, a.high)})

APS_NEON(uint32x4_t, aps_neon_even, (__m256i a),
         vuzp1q_u32((uint32x4_t)a.low, (uint32x4_t)a.high))
APS_NEON(__m256i, _mm256_mul_epu32, (__m256i a, __m256i b),
         APS_NEON_PAIR(vmull_u32(vget_low_u32(aps_neon_even(a)),
                                 vget_low_u32(aps_neon_even(b))),
                       vmull_high_u32(aps_neon_even(a), aps_neon_even(b))))
APS_NEON(int, _mm256_movemask_ps, (__m256 a),
         vaddvq_u16(vandq_u16(vcltzq_s16(vuzp2q_s16((int16x8_t)a.low,
                                                    (int16x8_t)a.high)),
                              (uint16x8_t){1, 2, 4, 8, 16, 32, 64, 128})))
APS_NEON(int, _mm256_testz_si256, (__m256i a, __m256i b),
         vmaxvq_u32((uint32x4_t)vorrq_s32(vandq_s32(a.low, b.low),
                                          vandq_s32(a.high, b.high))) == 0)

/* --- shifts --------------------------------------------------------------- */

/* The count, in each byte: NEON takes that of a lane's lowest byte. */
APS_NEON(int8x16_t, aps_neon_count, (__m128i n),
         vdupq_lane_s8((int8x8_t)vmin_u32(vqmovn_u64((uint64x2_t)n),
                                          vdup_n_u32(64)),
                       0))

/* Define a function by an expression of half a and count n. */
#define APS_NEON_SHIFT(name, count, type, ...)                                 \
    APS_NEON(int32x4_t, aps_neon_##name, (type a, count n),                    \
             (int32x4_t)(__VA_ARGS__))                                         \
    APS_NEON(__m256i, _mm256_##name, (__m256i a, count n),                     \
             (__m256i){aps_neon_##name((type)a.low, n),                        \
                       aps_neon_##name((type)a.high, n)})

APS_NEON_SHIFT(sll_epi16, __m128i, uint16x8_t,
               vshlq_u16(a, (int16x8_t)aps_neon_count(n)))
APS_NEON_SHIFT(srl_epi16, __m128i, uint16x8_t,
               vshlq_u16(a, (int16x8_t)vnegq_s8(aps_neon_count(n))))
APS_NEON_SHIFT(srl_epi32, __m128i, uint32x4_t,
               vshlq_u32(a, (int32x4_t)vnegq_s8(aps_neon_count(n))))
APS_NEON_SHIFT(srl_epi64, __m128i, uint64x2_t,
               vshlq_u64(a, (int64x2_t)vnegq_s8(aps_neon_count(n))))
/* by a constant, which becomes a part of the instruction */
APS_NEON_SHIFT(slli_epi16, unsigned, uint16x8_t,
               n < 16 ? a << vdupq_n_u16((uint16_t)n) : vdupq_n_u16(0))
APS_NEON_SHIFT(slli_epi32, unsigned, uint32x4_t,
               n < 32 ? a << vdupq_n_u32(n) : vdupq_n_u32(0))
APS_NEON_SHIFT(srli_epi16, unsigned, uint16x8_t,
               n < 16 ? a >> vdupq_n_u16((uint16_t)n) : vdupq_n_u16(0))
APS_NEON_SHIFT(srli_epi32, unsigned, uint32x4_t,
               n < 32 ? a >> vdupq_n_u32(n) : vdupq_n_u32(0))
APS_NEON_SHIFT(srai_epi32, unsigned, int32x4_t,
               a >> vdupq_n_s32(n < 32 ? (int)n : 31))

/* --- permutations, conversions -------------------------------------------- */

/* The constants are part of functions' names. */
#define _mm_shuffle_epi32(a, order) aps_neon_shuffle_##order(a)
#define _mm256_shuffle_epi32(a, order) aps_neon_shuffles_##order(a)
#define _mm256_permute4x64_epi64(a, order) aps_neon_permute_##order(a)
#define _mm256_permute2x128_si256(a, b, order) aps_neon_halves_##order(a, b)

APS_NEON(__m128i, aps_neon_shuffle_0x4e, (__m128i a), vextq_s32(a, a, 2))
APS_NEON(__m128i, aps_neon_shuffle_0xb1, (__m128i a), vrev64q_s32(a))
APS_NEON(__m256i, aps_neon_shuffles_0xb1, (__m256i a),
         (__m256i){vrev64q_s32(a.low), vrev64q_s32(a.high)})
APS_NEON(__m256i, aps_neon_shuffles_0xf5, (__m256i a),
         (__m256i){vtrn2q_s32(a.low, a.low), vtrn2q_s32(a.high, a.high)})
APS_NEON(__m256i, aps_neon_permute_0xd8, (__m256i a),
         APS_NEON_PAIR(vzip1q_s64((int64x2_t)a.low, (int64x2_t)a.high),
                       vzip2q_s64((int64x2_t)a.low, (int64x2_t)a.high)))
APS_NEON(__m256i, aps_neon_halves_0x20, (__m256i a, __m256i b),
         (__m256i){a.low, b.low})
APS_NEON(__m256i, aps_neon_halves_0x31, (__m256i a, __m256i b),
         (__m256i){a.high, b.high})

/* If lanes are constants, GCC makes an instruction that needs no table. */
#if defined(__clang__)
APS_NEON(int32x4_t, aps_neon_lanes, (__m256i a, __m128i lane),
         (int32x4_t)
             vqtbl2q_u8((uint8x16x2_t){{(uint8x16_t)a.low, (uint8x16_t)a.high}},
                        (uint8x16_t)(0x03020100 + 0x04040404 * (lane & 7))))
#else
APS_NEON(int32x4_t, aps_neon_lanes, (__m256i a, __m128i lane),
         __builtin_shuffle(a.low, a.high, lane))
#endif
APS_NEON(__m256i, _mm256_permutevar8x32_epi32, (__m256i a, __m256i lane),
         (__m256i){aps_neon_lanes(a, lane.low), aps_neon_lanes(a, lane.high)})

APS_NEON(__m256i, _mm256_cvtepi8_epi16, (__m128i a),
         APS_NEON_PAIR(vmovl_s8(vget_low_s8((int8x16_t)a)),
                       vmovl_high_s8((int8x16_t)a)))
APS_NEON(__m256i, _mm256_cvtepu16_epi32, (__m128i a),
         APS_NEON_PAIR(vmovl_u16(vget_low_u16((uint16x8_t)a)),
                       vmovl_high_u16((uint16x8_t)a)))
APS_NEON(__m256i, _mm256_cvtepu8_epi16, (__m128i a),
         APS_NEON_PAIR(vmovl_u8(vget_low_u8((uint8x16_t)a)),
                       vmovl_high_u8((uint8x16_t)a)))

/* INT32_MIN if the value is beyond an int, or NaN */
APS_NEON(int32x4_t, aps_neon_nearest, (float32x4_t a),
         vbslq_s32(vcltq_f32(a, vdupq_n_f32(0x1p31f)), vcvtnq_s32_f32(a),
                   vdupq_n_s32(INT32_MIN)))
APS_NEON(__m256i, _mm256_cvtps_epi32, (__m256 a),
         (__m256i){aps_neon_nearest(a.low), aps_neon_nearest(a.high)})

APS_NEON(__m256, _mm256_cvtph_ps, (__m128i a),
         (__m256){vcvt_f32_f16(vget_low_f16((float16x8_t)a)),
                  vcvt_high_f32_f16((float16x8_t)a)})
#define _mm256_cvtps_ph(a, rounding) aps_neon_half##rounding(a)
APS_NEON(__m128i, aps_neon_half_MM_FROUND_TO_NEAREST_INT, (__m256 a),
         (__m128i)vcvt_high_f16_f32(vcvt_f16_f32(a.low), a.high))

#undef APS_NEON
#undef APS_NEON_PAIR
#undef APS_NEON_STORE
#undef APS_NEON_INTEGERS
#undef APS_NEON_FLOATS
#undef APS_NEON_SHIFT

#endif
