/* SPDX-License-Identifier: BSD-3-Clause */
/* The codec of NVFP4 (nvfp4.h): loops over its blocks. */
#include "config.h"

#include "blockwise/blocks_variant.h"
#if APS_CPU_HAS_256
#include "simd/nearest_avx2.h"
#endif
#if APS_CPU_X86
#include "simd/nearest_vbmi.h"
#endif
#include "blockwise/nvfp4.h"

APS_INLINE struct aps_block_kernel nvfp4_init(const struct aps_format *format,
                                              const aps_any_float *x, size_t n)
{
    struct aps_block_kernel kernel = {.format = *format,
                                      .element = aps_kernel_init(format)};

    if (x)
        kernel.piece =
            aps_nvfp4_piece(aps_float_from_bits(aps_kernel_max_finite(x, n)));
    return kernel;
}

APS_INLINE struct aps_block_scale
nvfp4_choose(const struct aps_block_kernel *kernel, const aps_any_float *x,
             size_t n)
{
    return aps_nvfp4_choose(kernel->piece, aps_kernel_greatest(x, n));
}

APS_INLINE struct aps_block_scale
nvfp4_read(const struct aps_block_kernel *kernel, uint32_t code)
{
    return aps_nvfp4_read(kernel->piece, (uint8_t)code);
}

APS_INLINE void nvfp4_encode(const struct aps_block_kernel *kernel,
                             struct aps_block_scale scale,
                             const aps_any_float *x, size_t n,
                             struct aps_block_rounding rounding, void *codes,
                             int size, struct aps_encode_stats *stats)
{
    const struct aps_kernel k = kernel->element;
    const struct aps_format f = kernel->format;
    const uint32_t most = k.limit - 1;
    uint32_t underflow = 0, overflow = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t bits = aps_float_bits(x[i] * scale.factor);
        uint32_t sign = (bits & APS_FLOAT_SIGN) >> k.sign_shift;
        uint32_t raw = aps_nvfp4_magnitude(
            &k, &f, bits, rounding.kind,
            rounding.kind == APS_ROUND_STOCHASTIC ? rounding.random[i] : 0);
        uint32_t code = aps_bits_less(raw, most, raw, most);

        aps_kernel_store(codes, i, size, code | sign);
        if (stats) {
            underflow +=
                code == 0 && (aps_float_bits(x[i]) & ~APS_FLOAT_SIGN) != 0;
            overflow += raw > most;
        }
    }
    if (stats) {
        stats->underflow += underflow;
        stats->overflow += overflow;
    }
}

APS_INLINE void nvfp4_decode(const struct aps_block_kernel *kernel,
                             struct aps_block_scale scale, const void *codes,
                             int size, size_t n, bool add, aps_any_float *x)
{
    aps_kernel_decode_array(&kernel->element, codes, size, n, scale.factor, add,
                            x);
}

#define BLOCK_BYTES 9

#if APS_CPU_X86
#define BLOCKS 16 /* blocks at a time, whose scales fill a vector */
#define VALUES ((size_t)(16 * BLOCKS))

/* Returns the greatest of each of v[16], in the order of their numbers. */
APS_CODEC_AVX512 APS_INLINE __m512i nvfp4_greatest(__m512i *v)
{
    /* joins halves of neighbours, so that the number of vectors is halved four
     * times, and each step takes the greater of the halves */
    for (int i = 0; i < 8; i++)
        v[i] = _mm512_max_epu32(
            _mm512_shuffle_i64x2(v[2 * i], v[2 * i + 1], 0x44),
            _mm512_shuffle_i64x2(v[2 * i], v[2 * i + 1], 0xee));
    for (int i = 0; i < 4; i++)
        v[i] = _mm512_max_epu32(
            _mm512_shuffle_i64x2(v[2 * i], v[2 * i + 1], 0x88),
            _mm512_shuffle_i64x2(v[2 * i], v[2 * i + 1], 0xdd));
    /* each is now a 128-bit lane: lane j of vector i is block 4 * i + j */
    for (int i = 0; i < 2; i++)
        v[i] = _mm512_max_epu32(_mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]),
                                _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
    v[0] = _mm512_max_epu32(_mm512_unpacklo_epi64(v[0], v[1]),
                            _mm512_unpackhi_epi64(v[0], v[1]));
    /* in lane j: blocks j, 4 + j, 8 + j, 12 + j */
    return _mm512_permutexvar_epi32(
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
        v[0]);
}

/* Runs aps_nvfp4_choose on 16 blocks. Gets their codes, and returns false if
 * one is special. */
APS_CODEC_AVX512 APS_INLINE bool nvfp4_choose_16(const struct aps_nearest *c,
                                                 __m512 piece, __m512i greatest,
                                                 __m512i *code, __m512 *factor)
{
    const __m512 y = aps_nearest_clamp(
        c, _mm512_div_ps(_mm512_div_ps(_mm512_castsi512_ps(greatest),
                                       _mm512_set1_ps(APS_NVFP4_ELEMENT_MAX)),
                         piece));
    const __m512i power = aps_nearest_power(c, y);
    const __m512 sum = _mm512_fmadd_ps(_mm512_castsi512_ps(power), c->up, y);
    const __m512 scale = _mm512_mul_ps(
        _mm512_fnmadd_ps(_mm512_castsi512_ps(power), c->up, sum), piece);
    const __mmask16 fine =
        _mm512_cmplt_epu32_mask(greatest, _mm512_set1_epi32(APS_FLOAT_INF)) &
        _mm512_cmp_ps_mask(scale, _mm512_setzero_ps(), _CMP_GT_OQ);

    *code = aps_nearest_code(c, power, sum);
    *factor = _mm512_min_ps(
        _mm512_div_ps(_mm512_set1_ps(1), scale),
        _mm512_castsi512_ps(_mm512_set1_epi32(APS_FLOAT_INF - 1)));
    return fine == 0xffff;
}

/* Encodes 16 blocks. Returns whether none is special. */
APS_CODEC_AVX512 APS_INLINE bool
nvfp4_encode_16(const struct aps_nearest *scales,
                const struct aps_nearest *elements, __m512 piece,
                const aps_any_float *x, uint8_t *wire)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    __m512i v[BLOCKS], codes;
    __m512 factors;
    uint8_t scale[64];
    float factor[BLOCKS];

    for (int b = 0; b < BLOCKS; b++)
        v[b] = _mm512_and_si512(_mm512_loadu_si512((const void *)(x + 16 * b)),
                                magnitude);
    if (!nvfp4_choose_16(scales, piece, nvfp4_greatest(v), &codes, &factors))
        return false;
    _mm512_storeu_ps(factor, factors);
    _mm_storeu_si128((void *)scale, _mm512_cvtepi32_epi8(
                                        _mm512_sub_epi8(codes, scales->first)));
    for (int b = 0; b < BLOCKS; b += 4, wire += 4 * BLOCK_BYTES) {
        __m512i bits[4], lane[4], all;
        uint8_t packed[64];

        for (int j = 0; j < 4; j++) {
            bits[j] = _mm512_loadu_si512((const void *)(x + 16 * (b + j)));
            lane[j] = aps_nearest_16(
                elements, _mm512_mul_ps(_mm512_castsi512_ps(bits[j]),
                                        _mm512_set1_ps(factor[b + j])));
        }
        all = _mm512_sub_epi8(aps_codes_bytes(&elements->codes, lane),
                              elements->first);
        all = aps_codes_64_sign(&elements->codes, all, bits);
        all = aps_codes_64_pack(&elements->codes, all);
        _mm512_storeu_si512(packed, all);
        for (int j = 0; j < 4; j++) {
            wire[BLOCK_BYTES * j] = scale[b + j];
            memcpy(wire + BLOCK_BYTES * j + 1, packed + 8 * j, 8);
        }
    }
    return true;
}

/* The scales of these values are chosen together. */
static size_t nvfp4_step(const struct aps_format *format)
{
    (void)format;
    return VALUES;
}

APS_CODEC_AVX512 static uint64_t
nvfp4_vbmi(const struct aps_block_kernel *kernel, const aps_any_float *x,
           size_t n, uint8_t *wire)
{
    const struct aps_format format = aps_nvfp4_scale_format();
    const struct aps_kernel scale = aps_kernel_init(&format);
    struct aps_nearest scales = aps_nearest_make(&scale, 8, 1);
    struct aps_nearest elements = aps_nearest_make(&kernel->element, 4, 1);
    const __m512 piece = _mm512_set1_ps(kernel->piece);
    uint64_t special = 0;

    scales.beyond = _mm512_set1_ps(APS_NVFP4_SCALE_MAX);
    elements.beyond = _mm512_set1_ps(APS_NVFP4_ELEMENT_MAX);
    for (size_t i = 0; i < n / VALUES; i++) {
        aps_tile_ask_ahead(x + i * VALUES, VALUES);
        special |= (uint64_t)!nvfp4_encode_16(&scales, &elements, piece,
                                              x + i * VALUES,
                                              wire + i * BLOCKS * BLOCK_BYTES)
                   << i;
    }
    return special;
}
#endif

#if APS_CPU_HAS_256
#define BLOCKS_AVX2 8
#define VALUES_AVX2 ((size_t)(16 * BLOCKS_AVX2))

/* Returns the greatest magnitudes of 8 blocks, bit patterns. */
APS_CODEC_AVX2 APS_INLINE __m256i nvfp4_greatest_8(const aps_any_float *x)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256i v[BLOCKS_AVX2];

    for (int b = 0; b < BLOCKS_AVX2; b++) {
        const void *first = x + 16 * b, *second = x + 16 * b + 8;

        v[b] = _mm256_max_epi32(
            _mm256_and_si256(_mm256_loadu_si256(first), magnitude),
            _mm256_and_si256(_mm256_loadu_si256(second), magnitude));
    }
    /* like nvfp4_greatest */
    for (int i = 0; i < 4; i++)
        v[i] = _mm256_max_epi32(
            _mm256_permute2x128_si256(v[2 * i], v[2 * i + 1], 0x20),
            _mm256_permute2x128_si256(v[2 * i], v[2 * i + 1], 0x31));
    /* each is now a 128-bit lane: lane j of vector i is block 2 * i + j */
    for (int i = 0; i < 2; i++)
        v[i] = _mm256_max_epi32(_mm256_unpacklo_epi32(v[2 * i], v[2 * i + 1]),
                                _mm256_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
    v[0] = _mm256_max_epi32(_mm256_unpacklo_epi64(v[0], v[1]),
                            _mm256_unpackhi_epi64(v[0], v[1]));
    /* in lane j: blocks j, 2 + j, 4 + j, 6 + j */
    return _mm256_permutevar8x32_epi32(
        v[0], _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* Runs aps_nvfp4_choose on 8 blocks. Gets their codes, and returns false if one
 * is special. */
APS_CODEC_AVX2 APS_INLINE bool nvfp4_choose_8(const struct aps_avx2 *c,
                                              __m256 piece, __m256i greatest,
                                              __m256i *code, __m256 *factor)
{
    const __m256 y = _mm256_min_ps(
        _mm256_div_ps(_mm256_div_ps(_mm256_castsi256_ps(greatest),
                                    _mm256_set1_ps(APS_NVFP4_ELEMENT_MAX)),
                      piece),
        c->beyond);
    const __m256i power =
        _mm256_and_si256(_mm256_castps_si256(_mm256_max_ps(y, c->least)),
                         _mm256_set1_epi32((int)0xff800000u));
    /* the product and the difference are exact */
    const __m256 magic = _mm256_mul_ps(_mm256_castsi256_ps(power), c->up);
    const __m256 sum = _mm256_add_ps(magic, y);
    const __m256 scale = _mm256_mul_ps(_mm256_sub_ps(sum, magic), piece);
    const __m256i finite =
        _mm256_cmpgt_epi32(_mm256_set1_epi32(APS_FLOAT_INF), greatest);
    const __m256 fine =
        _mm256_and_ps(_mm256_castsi256_ps(finite),
                      _mm256_cmp_ps(scale, _mm256_setzero_ps(), _CMP_GT_OQ));

    *code = _mm256_sub_epi8(_mm256_add_epi32(_mm256_castps_si256(sum),
                                             _mm256_srl_epi32(power, c->shift)),
                            c->first);
    *factor = _mm256_min_ps(
        _mm256_div_ps(_mm256_set1_ps(1), scale),
        _mm256_castsi256_ps(_mm256_set1_epi32(APS_FLOAT_INF - 1)));
    return _mm256_movemask_ps(fine) == 0xff;
}

/* Encodes 8 blocks. Returns whether none is special. */
APS_CODEC_AVX2 APS_INLINE bool
nvfp4_encode_8(const struct aps_avx2 *scales, const struct aps_avx2 *elements,
               __m256 piece, const aps_any_float *x, uint8_t *wire)
{
    const struct aps_avx2_how how = {.narrow = true, .folded = true};
    __m256i codes, seen = _mm256_setzero_si256();
    __m256 factors;
    uint32_t scale[BLOCKS_AVX2];
    float factor[BLOCKS_AVX2];

    if (!nvfp4_choose_8(scales, piece, nvfp4_greatest_8(x), &codes, &factors))
        return false;
    _mm256_storeu_ps(factor, factors);
    _mm256_storeu_si256((void *)scale, codes);
    for (int b = 0; b < BLOCKS_AVX2; b += 2, wire += 2 * BLOCK_BYTES) {
        uint8_t packed[16 + 8];
        __m256i y[4];

        for (int j = 0; j < 4; j++)
            y[j] = _mm256_castps_si256(_mm256_mul_ps(
                _mm256_loadu_ps((const void *)(x + 16 * b + 8 * j)),
                _mm256_set1_ps(factor[b + j / 2])));
        aps_avx2_pack(elements, aps_avx2_bytes(elements, how, y, &seen),
                      packed);
        for (int j = 0; j < 2; j++) {
            wire[BLOCK_BYTES * j] = (uint8_t)scale[b + j];
            memcpy(wire + BLOCK_BYTES * j + 1, packed + 8 * j, 8);
        }
    }
    return true;
}

static size_t nvfp4_avx2_step(const struct aps_format *format)
{
    (void)format;
    return VALUES_AVX2;
}

APS_CODEC_AVX2 static uint64_t nvfp4_avx2(const struct aps_block_kernel *kernel,
                                          const aps_any_float *x, size_t n,
                                          uint8_t *wire)
{
    const struct aps_format format = aps_nvfp4_scale_format();
    const struct aps_kernel scale = aps_kernel_init(&format);
    struct aps_avx2 scales = aps_avx2_make(&scale, 8, 1);
    struct aps_avx2 elements = aps_avx2_make(&kernel->element, 4, 1);
    const __m256 piece = _mm256_set1_ps(kernel->piece);
    uint64_t special = 0;

    scales.beyond = _mm256_set1_ps(APS_NVFP4_SCALE_MAX);
    elements.beyond = _mm256_set1_ps(APS_NVFP4_ELEMENT_MAX);
    for (size_t i = 0; i < n / VALUES_AVX2; i++) {
        aps_tile_ask_ahead(x + i * VALUES_AVX2, VALUES_AVX2);
        special |= (uint64_t)!nvfp4_encode_8(
                       &scales, &elements, piece, x + i * VALUES_AVX2,
                       wire + i * BLOCKS_AVX2 * BLOCK_BYTES)
                   << i;
    }
    return special;
}
#endif

static const struct aps_block_ops nvfp4_ops = {
    .block = 16,
    .scale = 1,
    .init = nvfp4_init,
    .choose = nvfp4_choose,
    .read = nvfp4_read,
    .encode = nvfp4_encode,
    .decode = nvfp4_decode,
#if APS_CPU_HAS_256
    .avx2_step = nvfp4_avx2_step,
    .avx2 = nvfp4_avx2,
#endif
#if APS_CPU_X86
    .vbmi_step = nvfp4_step,
    .vbmi = nvfp4_vbmi,
#endif
};

APS_BLOCKS_VARIANTS(nvfp4)
