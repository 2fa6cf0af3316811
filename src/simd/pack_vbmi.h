/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dense packing, as in pack.h, for CPUs with AVX-512 VBMI: its byte permutation
 * joins 16 codes, or separates them, in a few instructions whatever the width,
 * which is 2 or more. Included by x86-64 builds only.
 */
#ifndef APS_SIMD_PACK_VBMI_H
#define APS_SIMD_PACK_VBMI_H

#include <immintrin.h>

#include "kernel/pack.h"

/* Up to this width a code, wherever it starts in a byte, lies in 32 bits. */
#define APS_PACK_VBMI_WIDTH 26

#define APS_TARGET_VBMI                                                        \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")))

/*
 * 16 codes become eight pairs of 2*width bits, each in a 64-bit lane. Pair a
 * belongs at bit 2*width*a of the wire: shifted by that modulo 8, its bytes are
 * bytes of the wire. A byte of the wire comes from one pair, or from two if the
 * next one starts in it. Bytes after the 2*width valid ones are arbitrary; the
 * next codes overwrite them.
 */
APS_TARGET_VBMI static void aps_pack_vbmi(const struct aps_codes *codes,
                                          size_t n, unsigned width,
                                          uint8_t *wire)
{
    uint8_t first[64], second[64], shared[64];
    const unsigned reciprocal = 65536 / width + 1;

    for (unsigned j = 0; j < 64; j++) {
        unsigned pair = 4 * j * reciprocal >> 16; /* 8*j / (2*width) */
        unsigned start = 2 * width * pair / 8;
        unsigned next = 2 * width * (pair + 1);

        first[j] = (uint8_t)(8 * pair + j - start);
        second[j] = (uint8_t)(8 * (pair + 1));
        shared[j] = next < 8 * j + 8 ? 0xff : 0;
    }

    const __m512i from_first = _mm512_loadu_si512(first);
    const __m512i from_second = _mm512_loadu_si512(second);
    const __mmask64 is_shared = _mm512_movepi8_mask(_mm512_loadu_si512(shared));
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i shift =
        _mm512_and_si512(_mm512_mullo_epi64(lane, _mm512_set1_epi64(2 * width)),
                         _mm512_set1_epi64(7));
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    const __m128i count = _mm_cvtsi32_si128((int)width);

    for (size_t i = 0; i < n; i += 16, wire += 2 * width) {
        __m512i two = _mm512_load_si512(codes->code + i);
        __m512i pair = _mm512_or_si512(
            _mm512_and_si512(two, low),
            _mm512_sll_epi64(_mm512_srli_epi64(two, 32), count));

        pair = _mm512_sllv_epi64(pair, shift);
        __m512i bytes = _mm512_or_si512(
            _mm512_permutexvar_epi8(from_first, pair),
            _mm512_maskz_permutexvar_epi8(is_shared, from_second, pair));
        _mm512_storeu_si512(wire, bytes);
    }
}

/* The four bytes in which code i starts go to lane i and are shifted there. */
APS_TARGET_VBMI static void aps_unpack_vbmi(const uint8_t *wire, size_t n,
                                            unsigned width,
                                            struct aps_codes *codes)
{
    const __m512i lane =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i bit = _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)width));
    const __m512i shift = _mm512_and_si512(bit, _mm512_set1_epi32(7));
    const __m512i from =
        _mm512_add_epi32(_mm512_mullo_epi32(_mm512_srli_epi32(bit, 3),
                                            _mm512_set1_epi32(0x01010101)),
                         _mm512_set1_epi32(0x03020100));
    const __m512i mask = _mm512_set1_epi32((1 << width) - 1);

    for (size_t i = 0; i < n; i += 16, wire += 2 * width) {
        __m512i bytes = _mm512_loadu_si512(wire);
        __m512i code =
            _mm512_srlv_epi32(_mm512_permutexvar_epi8(from, bytes), shift);

        _mm512_store_si512(codes->code + i, _mm512_and_si512(code, mask));
    }
}

#endif
