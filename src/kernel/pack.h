/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dense packing of codes of 1 to 31 bits (except 8 and 16, which are arrays
 * already): value i occupies bits [i*width, (i+1)*width), least significant bit
 * first within a byte.
 *
 * Codes are processed in blocks of 64, which are exactly `width` words of 64
 * bits. First two neighbours become one field of 2*width bits, in a loop that
 * vectorises; then these fields are concatenated. Both directions may touch up
 * to APS_PACK_SLACK bytes after the block.
 */
#ifndef APS_KERNEL_PACK_H
#define APS_KERNEL_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "number/bits.h"

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the wire is little-endian, and so has this machine to be"
#endif

#define APS_PACK_BLOCK 64 /* codes */
#define APS_PACK_SLACK 64 /* bytes */
#define APS_PACK_CHUNK 1024

/* Codes of a chunk, each in 32 bits; two of them are one 64-bit word. */
struct aps_codes {
    _Alignas(64) union {
        uint32_t code[APS_PACK_CHUNK];
        uint64_t pair[APS_PACK_CHUNK / 2];
    };
};

APS_INLINE uint64_t aps_load64(const uint8_t *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

APS_INLINE void aps_store64(uint8_t *p, uint64_t word)
{
    memcpy(p, &word, sizeof word);
}

/* Widths to 7: eight codes, in four pairs, are `width` bytes. */
APS_INLINE void aps_pack_narrow(const uint64_t *pair, size_t n, unsigned width,
                                uint8_t *wire)
{
    for (size_t i = 0; i < n / 2; i += 4, wire += width) {
        uint64_t low = pair[i] | pair[i + 1] << 2 * width;
        uint64_t high = pair[i + 2] | pair[i + 3] << 2 * width;

        aps_store64(wire, low | high << 4 * width);
    }
}

APS_INLINE void aps_unpack_narrow(const uint8_t *wire, size_t n, unsigned width,
                                  uint64_t *pair)
{
    uint64_t mask = ((uint64_t)1 << 2 * width) - 1;

    for (size_t i = 0; i < n / 2; i += 4, wire += width) {
        uint64_t word = aps_load64(wire);

        pair[i] = word & mask;
        pair[i + 1] = word >> 2 * width & mask;
        pair[i + 2] = word >> 4 * width & mask;
        pair[i + 3] = word >> 6 * width & mask;
    }
}

/* Any width: pairs are shifted into a word, and the bits that do not fit start
 * the next word. */
APS_INLINE void aps_pack_wide(const uint64_t *pair, size_t n, unsigned width,
                              uint8_t *wire)
{
    uint64_t word = 0;
    unsigned filled = 0;

    for (size_t i = 0; i < n / 2; i++) {
        word |= pair[i] << filled;
        filled += 2 * width;
        if (filled >= 64) {
            aps_store64(wire, word);
            wire += 8;
            filled -= 64;
            word = pair[i] >> (2 * width - filled);
        }
    }
}

APS_INLINE void aps_unpack_wide(const uint8_t *wire, size_t n, unsigned width,
                                uint64_t *pair)
{
    uint64_t mask = ((uint64_t)1 << 2 * width) - 1;
    uint64_t word = 0;
    unsigned left = 0; /* bits of word not yet taken */

    for (size_t i = 0; i < n / 2; i++) {
        uint64_t bits = word;

        if (left < 2 * width) {
            word = aps_load64(wire);
            wire += 8;
            bits |= word << left;
            word >>= 2 * width - left;
            left += 64;
        } else {
            word >>= 2 * width;
        }
        left -= 2 * width;
        pair[i] = bits & mask;
    }
}

/* codes->code[n] -> wire; destroys the codes. n is a multiple of 64. */
APS_INLINE void aps_pack(struct aps_codes *codes, size_t n, unsigned width,
                         uint8_t *wire)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint64_t two = codes->pair[i];

        codes->pair[i] = (two & 0xffffffffu) | two >> 32 << width;
    }
    if (width < 8)
        aps_pack_narrow(codes->pair, n, width, wire);
    else
        aps_pack_wide(codes->pair, n, width, wire);
}

/* wire -> codes->code[n]. n is a multiple of 64. */
APS_INLINE void aps_unpack(const uint8_t *wire, size_t n, unsigned width,
                           struct aps_codes *codes)
{
    uint64_t mask = ((uint64_t)1 << width) - 1;

    if (width < 8)
        aps_unpack_narrow(wire, n, width, codes->pair);
    else
        aps_unpack_wide(wire, n, width, codes->pair);
    for (size_t i = 0; i < n / 2; i++) {
        uint64_t two = codes->pair[i];

        codes->pair[i] = (two & mask) | two >> width << 32;
    }
}

#endif
