/* SPDX-License-Identifier: BSD-3-Clause */
/* The codec of the OCP Microscaling Formats (mx.h): loops over their blocks. */
#include "config.h"

#include "codec/blocks_variant.h"
#include "codec/mx.h"
#if defined(__x86_64__)
#include "codec/blocks_vbmi.h"
#endif

/* Elements without an exponent are integers. */
APS_INLINE bool mx_is_integer(const struct aps_block_kernel *kernel)
{
    return aps_mx_is_integer(&kernel->format);
}

APS_INLINE struct aps_block_kernel mx_init(const struct aps_format *format,
                                           const aps_any_float *x, size_t n)
{
    (void)x, (void)n;
    return aps_mx_kernel(format);
}

APS_INLINE struct aps_block_scale
mx_choose(const struct aps_block_kernel *kernel, uint32_t greatest)
{
    return aps_mx_choose(kernel->emax, greatest);
}

APS_INLINE struct aps_block_scale mx_read(const struct aps_block_kernel *kernel,
                                          uint8_t code)
{
    return aps_mx_read(mx_is_integer(kernel), code);
}

APS_INLINE void mx_encode_floats(const struct aps_block_kernel *kernel,
                                 struct aps_block_scale scale,
                                 const aps_any_float *x, size_t n,
                                 struct aps_block_rounding rounding,
                                 void *codes, int size,
                                 struct aps_encode_stats *stats)
{
    const struct aps_kernel k = kernel->element;
    const struct aps_format f = kernel->format;
    const uint32_t most = k.limit - 1;
    const uint32_t max = aps_float_bits(f.max);
    uint32_t underflow = 0, overflow = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t bits = aps_float_bits(x[i]);
        uint32_t sign = (bits & APS_FLOAT_SIGN) >> k.sign_shift;
        uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
        uint32_t raw, code;

        if (rounding.kind == APS_ROUND_NEAREST && !stats) {
            uint32_t y =
                aps_float_bits(aps_float_from_bits(magnitude) * scale.factor);

            y = aps_kernel_less(y, max, y, max);
            raw = aps_kernel_encode_bounded(&k, aps_float_from_bits(y));
        } else {
            raw = aps_mx_float_magnitude(
                &k, &f, scale, bits, rounding.kind,
                rounding.kind == APS_ROUND_STOCHASTIC ? rounding.random[i] : 0);
        }
        code = raw;
        if (stats || rounding.kind != APS_ROUND_NEAREST)
            code = aps_kernel_less(raw, most, raw, most);
        aps_kernel_store(codes, i, size, code | sign);
        if (stats) {
            underflow += code == 0 && magnitude != 0;
            overflow += raw > most;
        }
    }
    if (stats) {
        stats->underflow += underflow;
        stats->overflow += overflow;
    }
}

APS_INLINE void mx_encode_integers(struct aps_block_scale scale,
                                   const aps_any_float *x, size_t n,
                                   struct aps_block_rounding rounding,
                                   void *codes, int size,
                                   struct aps_encode_stats *stats)
{
    const uint32_t most = APS_MX_INT8_MOST;
    uint32_t underflow = 0, overflow = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t bits = aps_float_bits(x[i]);
        uint32_t raw = aps_mx_integer_magnitude(
            scale, bits, rounding.kind,
            rounding.kind == APS_ROUND_STOCHASTIC ? rounding.random[i] : 0);
        uint32_t code = aps_kernel_less(raw, most, raw, most);

        aps_kernel_store(codes, i, size, aps_mx_integer_code(code, bits));
        if (stats) {
            underflow += code == 0 && (bits & ~APS_FLOAT_SIGN) != 0;
            overflow += raw > most;
        }
    }
    if (stats) {
        stats->underflow += underflow;
        stats->overflow += overflow;
    }
}

APS_INLINE void mx_encode(const struct aps_block_kernel *kernel,
                          struct aps_block_scale scale, const aps_any_float *x,
                          size_t n, struct aps_block_rounding rounding,
                          void *codes, int size, struct aps_encode_stats *stats)
{
    if (mx_is_integer(kernel))
        mx_encode_integers(scale, x, n, rounding, codes, size, stats);
    else
        mx_encode_floats(kernel, scale, x, n, rounding, codes, size, stats);
}

APS_INLINE void mx_decode(const struct aps_block_kernel *kernel,
                          struct aps_block_scale scale, const void *codes,
                          int size, size_t n, bool add, aps_any_float *x)
{
    if (!mx_is_integer(kernel)) {
        aps_kernel_decode_array(&kernel->element, codes, size, n, scale.factor,
                                add, x);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        float y = aps_mx_integer_value(scale, aps_kernel_load(codes, i, size));

        x[i] = add ? aps_kernel_canonical(x[i] + y) : y;
    }
}

#if defined(__x86_64__)
/* The scales of 64 values, in all lanes: 2^(127 - s), and the codes. */
APS_CODEC_AVX512 static inline __m512 mx_scale_64(__m512i greatest, int emax,
                                                  uint8_t *code)
{
    const __m512i field = _mm512_srli_epi32(greatest, 23);
    const __m512i least = _mm512_set1_epi32(emax);
    const __m512i s = _mm512_sub_epi32(_mm512_max_epu32(field, least), least);

    *code = (uint8_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(s));
    return aps_blocks_64_pow2(_mm512_sub_epi32(_mm512_set1_epi32(254), s));
}

APS_CODEC_AVX512 static inline __m512i
mx_float_16(const struct aps_kernel *k, uint32_t max, __m512i x, __m512 factor)
{
    const __m512i sign = _mm512_set1_epi32((int)APS_FLOAT_SIGN);
    const __m128i shift = _mm_cvtsi32_si128((int)k->shift);
    const __m512i y = _mm512_min_epu32(
        _mm512_castps_si512(_mm512_mul_ps(
            _mm512_castsi512_ps(_mm512_andnot_si512(sign, x)), factor)),
        _mm512_set1_epi32((int)max));
    const __m512i below =
        _mm512_sub_epi32(_mm512_castps_si512(_mm512_add_ps(
                             _mm512_castsi512_ps(y), _mm512_set1_ps(k->magic))),
                         _mm512_set1_epi32((int)aps_float_bits(k->magic)));
    const __m512i tie = _mm512_and_si512(_mm512_srl_epi32(y, shift),
                                         _mm512_set1_epi32((int)k->odd));
    const __m512i normal = _mm512_srl_epi32(
        _mm512_add_epi32(_mm512_add_epi32(y, _mm512_set1_epi32((int)k->carry)),
                         tie),
        shift);
    const __m512i code = _mm512_mask_mov_epi32(
        normal,
        _mm512_cmplt_epu32_mask(y, _mm512_set1_epi32((int)k->min_normal)),
        below);

    return _mm512_or_si512(
        code, _mm512_srl_epi32(_mm512_and_si512(x, sign),
                               _mm_cvtsi32_si128((int)k->sign_shift)));
}

APS_CODEC_AVX512 static inline __m512i mx_integer_16(__m512i x, __m512 factor)
{
    const __m512 magic = _mm512_set1_ps(0x1p17f);
    const __m512i magnitude =
        _mm512_andnot_si512(_mm512_set1_epi32((int)APS_FLOAT_SIGN), x);
    const __m512 y = _mm512_mul_ps(_mm512_castsi512_ps(magnitude), factor);
    const __m512i k = _mm512_min_epu32(
        _mm512_sub_epi32(_mm512_castps_si512(_mm512_add_ps(y, magic)),
                         _mm512_castps_si512(magic)),
        _mm512_set1_epi32(APS_MX_INT8_MOST));

    return _mm512_mask_sub_epi32(k, _mm512_movepi32_mask(x),
                                 _mm512_setzero_si512(), k);
}

APS_CODEC_AVX512 static size_t mx_vbmi(const struct aps_block_kernel *kernel,
                                       const aps_any_float *x, size_t n,
                                       uint8_t *wire)
{
    const struct aps_blocks_64_layout layout =
        aps_blocks_64_layout_make(&kernel->format);
    const struct aps_kernel k = kernel->element;
    const uint32_t max = aps_float_bits(kernel->format.max);
    const bool integer = mx_is_integer(kernel);

    for (size_t i = 0; i < n; i += 64, wire += layout.bytes) {
        const struct aps_blocks_64 v = aps_blocks_64_load(x + i, 32);
        uint8_t scale[2];
        __m512 factor[2];
        __m512i code[4];

        if (aps_blocks_64_special(&v))
            return i;
        for (int j = 0; j < 2; j++)
            factor[j] = mx_scale_64(v.greatest[j], kernel->emax, &scale[j]);
        for (int j = 0; j < 4; j++)
            code[j] = integer ? mx_integer_16(v.x[j], factor[j / 2])
                              : mx_float_16(&k, max, v.x[j], factor[j / 2]);
        aps_blocks_64_store(&layout, code, scale[0], scale[1], wire);
    }
    return n;
}
#endif

static const struct aps_block_ops mx_ops = {
    .block = 32,
    .init = mx_init,
    .choose = mx_choose,
    .read = mx_read,
    .encode = mx_encode,
    .decode = mx_decode,
#if defined(__x86_64__)
    .vbmi = mx_vbmi,
#endif
};

APS_BLOCKS_VARIANTS(mx)
