/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops over nearest_avx2.h: arrays to packed codes.
 */
#ifndef APS_FLOAT_ENCODE_AVX2_H
#define APS_FLOAT_ENCODE_AVX2_H

#include "base/size_min.h"
#include "simd/nearest_avx2.h"
#include "kernel/tile.h"

/* Encodes x[n] to packed codes, exactly their bytes; adds the greatest
 * magnitude to *seen, if `how` asks for it. */
APS_CODEC_AVX2 APS_INLINE void aps_avx2_values(const struct aps_avx2 *constants,
                                               struct aps_avx2_how how,
                                               const aps_any_float *x, size_t n,
                                               __m256i *seen, uint8_t *wire)
{
    /* in registers, because a store of bytes may alias anything in memory */
    const struct aps_avx2 k = *constants, *const c = &k;
    const size_t width = c->width;
    /* Bytes written after narrow codes are overwritten later. */
    const size_t behind = how.narrow && !how.four ? APS_AVX2_VALUES : 0;
    __m256i most = *seen;
    size_t i = 0;

    for (; n - i >= APS_AVX2_VALUES + behind; i += APS_AVX2_VALUES) {
        aps_tile_ask_ahead(x + i, APS_AVX2_VALUES);
        aps_avx2_32(c, how, x + i, &most, wire + i / 8 * width);
    }
    for (; i < n; i += APS_AVX2_VALUES) {
        const size_t count = aps_size_min(n - i, APS_AVX2_VALUES);
        float rest[APS_AVX2_VALUES] = {0};
        uint8_t codes[2 * APS_AVX2_VALUES + 8];

        memcpy(rest, x + i, count * sizeof *rest);
        aps_avx2_32(c, how, (const void *)rest, &most, codes);
        memcpy(wire + i / 8 * width, codes, (count * width + 7) / 8);
    }
    *seen = most;
}

/* Ways to encode, each a loop of its own for each kind of codes. */
enum aps_avx2_way {
    APS_AVX2_SCALED,  /* by a multiplication */
    APS_AVX2_FOLDED,  /* by constants that include the scale */
    APS_AVX2_BOUNDED, /* ... if no value is beyond the format */
    APS_AVX2_WAYS
};

typedef void aps_avx2_loop_fn(const struct aps_avx2 *c, const aps_any_float *x,
                              size_t n, __m256i *seen, uint8_t *wire);

#define APS_AVX2_LOOP(name, ...)                                               \
    APS_CODEC_AVX2 APS_NOINLINE void aps_avx2_##name(                          \
        const struct aps_avx2 *c, const aps_any_float *x, size_t n,            \
        __m256i *seen, uint8_t *wire)                                          \
    {                                                                          \
        aps_avx2_values(c, (struct aps_avx2_how){__VA_ARGS__}, x, n, seen,     \
                        wire);                                                 \
    }
#define APS_AVX2_LOOPS(name, ...)                                              \
    APS_AVX2_LOOP(name##_scaled, __VA_ARGS__)                                  \
    APS_AVX2_LOOP(name##_folded, .folded = true, __VA_ARGS__)                  \
    APS_AVX2_LOOP(name##_bounded, .folded = true, .bounded = true, __VA_ARGS__)

APS_AVX2_LOOPS(fours, .narrow = true, .four = true)
APS_AVX2_LOOPS(narrow, .narrow = true)
APS_AVX2_LOOPS(eights, .narrow = false)
APS_AVX2_LOOPS(words, .words = true)
APS_AVX2_LOOPS(fp16, .words = true, .kind = APS_CODE16_FP16)
APS_AVX2_LOOPS(bf16, .words = true, .kind = APS_CODE16_BF16)

/* Encodes in one of the ways that suit the constants: ways other than the first
 * need a folded scale. */
APS_CODEC_AVX2 static inline void
aps_avx2_encode(const struct aps_avx2 *c, enum aps_avx2_way way,
                const aps_any_float *x, size_t n, __m256i *seen, uint8_t *wire)
{
#define ROW(name)                                                              \
    {                                                                          \
        aps_avx2_##name##_scaled, aps_avx2_##name##_folded,                    \
            aps_avx2_##name##_bounded                                          \
    }
    static aps_avx2_loop_fn *const fours[APS_AVX2_WAYS] = ROW(fours);
    static aps_avx2_loop_fn *const narrow[APS_AVX2_WAYS] = ROW(narrow);
    static aps_avx2_loop_fn *const eights[APS_AVX2_WAYS] = ROW(eights);
    static aps_avx2_loop_fn *const words[APS_AVX2_WAYS] = ROW(words);
    static aps_avx2_loop_fn *const fp16[APS_AVX2_WAYS] = ROW(fp16);
    static aps_avx2_loop_fn *const bf16[APS_AVX2_WAYS] = ROW(bf16);
#undef ROW
    aps_avx2_loop_fn *const *loops = narrow;

    if (c->width == 16)
        loops = c->words == APS_CODE16_FP16   ? fp16
                : c->words == APS_CODE16_BF16 ? bf16
                                              : words;
    else if (c->width == 8)
        loops = eights;
    else if (c->width == 4)
        loops = fours;
    loops[way](c, x, n, seen, wire);
}

/* Encodes x[n], at most a tile, to packed codes, exactly their bytes;
 * `bounded`: all are finite, and none is beyond the format. Returns false if
 * there are INF or NaN; the codes are then not valid. */
APS_CODEC_AVX2 static inline bool aps_avx2_tile(const struct aps_avx2 *c,
                                                const aps_any_float *x,
                                                size_t n, bool bounded,
                                                uint8_t *wire)
{
    const enum aps_avx2_way way = !c->folded ? APS_AVX2_SCALED
                                  : bounded  ? APS_AVX2_BOUNDED
                                             : APS_AVX2_FOLDED;
    __m256i seen = _mm256_setzero_si256();

    aps_avx2_encode(c, way, x, n, &seen, wire);
    seen = _mm256_cmpgt_epi32(seen, _mm256_set1_epi32(APS_FLOAT_INF - 1));
    return _mm256_testz_si256(seen, seen) != 0;
}

#endif
