/* SPDX-License-Identifier: BSD-3-Clause */
/* The codec of the OCP Microscaling Formats (mx.h): loops over their blocks. */
#include "config.h"

#include "blockwise/blocks_variant.h"
#include "blockwise/mx.h"
#if APS_CPU_HAS_256
#include "simd/nearest_avx2.h"
#endif
#if APS_CPU_X86
#include "blockwise/blocks_vbmi.h"
#include "simd/table_vbmi.h"
#endif

/* True for elements without an exponent, which are integers. */
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
mx_choose(const struct aps_block_kernel *kernel, const aps_any_float *x,
          size_t n)
{
    return aps_mx_choose(kernel->emax, aps_kernel_greatest(x, n));
}

APS_INLINE struct aps_block_scale mx_read(const struct aps_block_kernel *kernel,
                                          uint32_t code)
{
    return aps_mx_read(mx_is_integer(kernel), (uint8_t)code);
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

            y = aps_bits_less(y, max, y, max);
            raw = aps_kernel_encode_bounded(&k, aps_float_from_bits(y));
        } else {
            raw = aps_mx_float_magnitude(
                &k, &f, scale, bits, rounding.kind,
                rounding.kind == APS_ROUND_STOCHASTIC ? rounding.random[i] : 0);
        }
        code = raw;
        if (stats || rounding.kind != APS_ROUND_NEAREST)
            code = aps_bits_less(raw, most, raw, most);
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
    const uint32_t most = APS_MX_INT8_MAX;
    uint32_t underflow = 0, overflow = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t bits = aps_float_bits(x[i]);
        uint32_t raw = aps_mx_integer_magnitude(
            scale, bits, rounding.kind,
            rounding.kind == APS_ROUND_STOCHASTIC ? rounding.random[i] : 0);
        uint32_t code = aps_bits_less(raw, most, raw, most);

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

#if APS_CPU_HAS_256
/* Supports elements that are floats. */
static size_t mx_avx2_step(const struct aps_format *format)
{
    return aps_mx_is_integer(format) ? 0 : APS_AVX2_VALUES;
}

/* Returns the bit pattern of the greatest magnitude of x[4] of 8. */
APS_CODEC_AVX2 APS_INLINE uint32_t mx_avx2_greatest(const __m256i *x)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    const __m256i first = _mm256_max_epi32(_mm256_and_si256(x[0], magnitude),
                                           _mm256_and_si256(x[1], magnitude));
    const __m256i second = _mm256_max_epi32(_mm256_and_si256(x[2], magnitude),
                                            _mm256_and_si256(x[3], magnitude));

    return aps_avx2_greatest(_mm256_max_epi32(first, second));
}

/* Encodes a block, and writes up to 8 - width bytes after narrow codes. Returns
 * 1 if it is special; then its bytes have any value. */
APS_CODEC_AVX2 APS_INLINE uint64_t
mx_avx2_block(const struct aps_avx2 *constants, struct aps_avx2_how how,
              int emax, const aps_any_float *x, uint8_t *wire)
{
    struct aps_avx2 c = *constants;
    __m256i bits[4], seen = _mm256_setzero_si256();
    struct aps_block_scale scale;
    __m256i codes;

    for (int j = 0; j < 4; j++)
        bits[j] = _mm256_loadu_si256((const void *)(x + 8 * j));
    scale = aps_mx_choose(emax, mx_avx2_greatest(bits));
    c.scale = _mm256_set1_ps(scale.factor);
    codes = aps_avx2_bytes(&c, how, bits, &seen);
    wire[0] = (uint8_t)scale.code;
    if (how.narrow)
        aps_avx2_pack(&c, codes, wire + 1);
    else
        _mm256_storeu_si256((void *)(wire + 1), codes);
    return scale.nan || scale.zero;
}

APS_CODEC_AVX2 APS_INLINE uint64_t
mx_avx2_blocks(const struct aps_block_kernel *kernel, struct aps_avx2_how how,
               const aps_any_float *x, size_t n, uint8_t *wire)
{
    const unsigned width = (unsigned)kernel->format.width;
    const size_t bytes = 1 + 4 * (size_t)width;
    const int emax = kernel->emax;
    struct aps_avx2 c = aps_avx2_make(&kernel->element, width, 1);
    uint64_t special = 0;

    c.beyond = _mm256_set1_ps(kernel->format.max);
    for (size_t i = 0; i < n / APS_AVX2_VALUES; i++, wire += bytes) {
        const aps_any_float *from = x + i * APS_AVX2_VALUES;

        aps_tile_ask_ahead(from, APS_AVX2_VALUES);
        if (!how.narrow || i + 1 < n / APS_AVX2_VALUES) {
            special |= mx_avx2_block(&c, how, emax, from, wire) << i;
        } else {
            uint8_t last[1 + APS_AVX2_VALUES + 8];

            special |= mx_avx2_block(&c, how, emax, from, last) << i;
            memcpy(wire, last, bytes);
        }
    }
    return special;
}

APS_CODEC_AVX2 static uint64_t mx_avx2(const struct aps_block_kernel *kernel,
                                       const aps_any_float *x, size_t n,
                                       uint8_t *wire)
{
    if (kernel->format.width == 8)
        return mx_avx2_blocks(kernel, (struct aps_avx2_how){.narrow = false}, x,
                              n, wire);
    return mx_avx2_blocks(kernel, (struct aps_avx2_how){.narrow = true}, x, n,
                          wire);
}
#endif

#if APS_CPU_X86
APS_CODEC_AVX512 APS_INLINE struct aps_nearest
mx_make_floats(const struct aps_block_kernel *kernel)
{
    struct aps_nearest c =
        aps_nearest_make(&kernel->element, (unsigned)kernel->format.width, 1);

    c.beyond = _mm512_set1_ps(kernel->format.max);
    return c;
}

/* Integers of both signs, which are rounded by adding 1.5 * 2^17. */
APS_CODEC_AVX512 APS_INLINE struct aps_nearest
mx_make_integers(const struct aps_block_kernel *kernel)
{
    return (struct aps_nearest){
        .codes = aps_codes_64_make((unsigned)kernel->format.width),
        .beyond = _mm512_set1_ps(APS_MX_INT8_MAX * 0x1p-6f),
        .up = _mm512_set1_ps(0x1.8p17f),
        .first = _mm512_setzero_si512(),
    };
}

APS_CODEC_AVX512 APS_INLINE __m512i mx_scale_16(
    const struct aps_block_kernel *kernel, __m512i greatest, __m512 *factor)
{
    const __m512i least = _mm512_set1_epi32(kernel->emax);
    const __m512i field = _mm512_srli_epi32(greatest, 23);
    const __m512i s = _mm512_sub_epi32(_mm512_max_epu32(field, least), least);

    *factor = aps_blocks_64_pow2(_mm512_sub_epi32(_mm512_set1_epi32(254), s));
    return s;
}

APS_CODEC_AVX512 APS_INLINE __m512i
mx_round_integers(const struct aps_nearest *c, __m512 y)
{
    return _mm512_castps_si512(
        _mm512_add_ps(_mm512_range_ps(y, c->beyond, APS_NEAREST_LESS), c->up));
}

static const struct aps_blocks_64_ops mx_floats_64 = {
    .make = mx_make_floats,
    .scale = mx_scale_16,
    .round = aps_nearest_16,
    .sign = true,
};
static const struct aps_blocks_64_ops mx_integers_64 = {
    .make = mx_make_integers,
    .scale = mx_scale_16,
    .round = mx_round_integers,
};

APS_CODEC_AVX512 static uint64_t mx_vbmi(const struct aps_block_kernel *kernel,
                                         const aps_any_float *x, size_t n,
                                         uint8_t *wire)
{
    if (mx_is_integer(kernel))
        return aps_blocks_64_vbmi(&mx_integers_64, kernel, x, n, wire);
    return aps_blocks_64_vbmi(&mx_floats_64, kernel, x, n, wire);
}

/* Encodes two blocks of floats. Returns 0, or 1, without any effect, if one is
 * NaN. */
APS_CODEC_AVX512 APS_INLINE uint64_t
mx_decode_64(const struct aps_table *table,
             const struct aps_table_unpack *unpack, size_t half, bool add,
             const uint8_t *wire, struct aps_table_seen *seen, aps_any_float *x)
{
    const uint8_t first = wire[0], second = wire[1 + half];
    const __mmask64 low = ((uint64_t)1 << half) - 1;
    __m512i codes = _mm512_maskz_loadu_epi8(low, wire + 1);
    __m512 scale[2], y[4];

    if (first == APS_MX_NAN || second == APS_MX_NAN)
        return 1;
    scale[0] = _mm512_set1_ps(aps_blocks_pow2(first - APS_MX_BIAS));
    scale[1] = _mm512_set1_ps(aps_blocks_pow2(second - APS_MX_BIAS));
    codes = _mm512_mask_loadu_epi8(codes, low << half, wire + 2);
    codes = aps_table_unpack_codes(unpack, half == 32, codes);
    aps_table_look_up(table, (struct aps_table_how){.sign = true}, codes, scale,
                      y);
    aps_table_store_64(x, y, add ? APS_PUT_ADD : APS_PUT, false, 0, seen);
    return 0;
}

APS_CODEC_AVX512 static uint64_t
mx_vbmi_decode(const struct aps_block_kernel *kernel, const uint8_t *wire,
               size_t n, bool add, aps_any_float *x)
{
    const unsigned width = (unsigned)kernel->format.width;
    const struct aps_table table = aps_table_make(&kernel->element, width, 1);
    const struct aps_table_unpack unpack = aps_table_unpack_make(width);
    const size_t half = 4 * (size_t)width;
    struct aps_table_seen seen = aps_table_seen_none();
    uint64_t special = 0;

    for (size_t i = 0; i < n / 64; i++) {
        const uint8_t *from = wire + i * 2 * (1 + half);

        special |= (add ? mx_decode_64(&table, &unpack, half, true, from, &seen,
                                       x + 64 * i)
                        : mx_decode_64(&table, &unpack, half, false, from,
                                       &seen, x + 64 * i))
                   << i;
    }
    if (add)
        aps_table_settle(&seen, x, n);
    return special;
}
#endif

static const struct aps_block_ops mx_ops = {
    .block = 32,
    .scale = 1,
    .init = mx_init,
    .choose = mx_choose,
    .read = mx_read,
    .encode = mx_encode,
    .decode = mx_decode,
#if APS_CPU_HAS_256
    .avx2_step = mx_avx2_step,
    .avx2 = mx_avx2,
#endif
#if APS_CPU_X86
    .vbmi_step = aps_blocks_64_step,
    .vbmi = mx_vbmi,
    .vbmi_decode = mx_vbmi_decode,
#endif
};

APS_BLOCKS_VARIANTS(mx)
