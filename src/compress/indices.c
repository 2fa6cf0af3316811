/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/indices.h"

#include <errno.h>
#include <string.h>

#define WORD 64 /* bits of a bitmap that are searched at a time */

unsigned aps_indices_width(size_t n)
{
    unsigned width = 0;

    while (width < 32 && (uint64_t)1 << width < n)
        width++;
    return width;
}

bool aps_indices_is_bitmap(size_t k, size_t n)
{
    return (uint64_t)k * aps_indices_width(n) > n;
}

size_t aps_indices_bytes(size_t k, size_t n)
{
    const uint64_t packed = (uint64_t)k * aps_indices_width(n);

    return (size_t)(((packed > n ? n : packed) + 7) / 8);
}

/* --- packed -------------------------------------------------------------- */

static void indices_store32(uint8_t *to, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(word >> 8 * i);
}

static uint32_t indices_load32(const uint8_t *from)
{
    uint32_t word = 0;

    for (int i = 0; i < 4; i++)
        word |= (uint32_t)from[i] << 8 * i;
    return word;
}

static void indices_pack(const uint32_t *indices, size_t k, uint32_t base,
                         unsigned width, uint8_t *to)
{
    uint64_t pending = 0;
    unsigned bits = 0;

    for (size_t i = 0; i < k; i++) {
        pending |= (uint64_t)(indices[i] - base) << bits;
        bits += width;
        if (bits >= 32) {
            indices_store32(to, (uint32_t)pending);
            to += 4;
            pending >>= 32;
            bits -= 32;
        }
    }
    for (unsigned at = 0; at < bits; at += 8)
        *to++ = (uint8_t)(pending >> at);
}

static int indices_unpack(const uint8_t *from, size_t bytes, size_t k,
                          uint32_t base, size_t n, unsigned width,
                          uint32_t *indices)
{
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    const uint8_t *end = from + bytes;
    uint64_t pending = 0, least = 0;
    unsigned bits = 0;
    bool bad = false;

    for (size_t i = 0; i < k; i++) {
        if (bits < width && end - from >= 4) {
            pending |= (uint64_t)indices_load32(from) << bits;
            from += 4;
            bits += 32;
        }
        while (bits < width) {
            pending |= (uint64_t)*from++ << bits;
            bits += 8;
        }
        uint64_t index = pending & mask;

        bad |= index < least || index >= n;
        least = index + 1;
        indices[i] = base + (uint32_t)index;
        pending >>= width;
        bits -= width;
    }
    return bad || pending != 0 || from != end ? -1 : 0;
}

/* --- bitmaps ------------------------------------------------------------- */

static void indices_mark(const uint32_t *indices, size_t k, uint32_t base,
                         size_t bytes, uint8_t *to)
{
    memset(to, 0, bytes);
    for (size_t i = 0; i < k; i++) {
        uint32_t index = indices[i] - base;

        to[index / 8] |= (uint8_t)(1u << index % 8);
    }
}

/* Returns bits [64*w, 64*w + 64) of the bitmap; 0 beyond its bytes. */
static uint64_t indices_word(const uint8_t *from, size_t bytes, size_t w)
{
    const size_t at = w * (WORD / 8);
    uint8_t word[WORD / 8] = {0};

    memcpy(word, from + at,
           bytes - at < sizeof word ? bytes - at : sizeof word);
    return indices_load32(word) | (uint64_t)indices_load32(word + 4) << 32;
}

static int indices_find(const uint8_t *from, size_t bytes, size_t k,
                        uint32_t base, size_t n, uint32_t *indices)
{
    const size_t words = (bytes + WORD / 8 - 1) / (WORD / 8);
    size_t found = 0;

    for (size_t w = 0; w < words; w++) {
        uint64_t word = indices_word(from, bytes, w);

        for (; word; word &= word - 1) {
            size_t index = w * WORD + (size_t)__builtin_ctzll(word);

            if (found == k || index >= n)
                return -1;
            indices[found++] = base + (uint32_t)index;
        }
    }
    return found == k ? 0 : -1;
}

/* --- either -------------------------------------------------------------- */

void aps_indices_encode(const uint32_t *indices, size_t k, uint32_t base,
                        size_t n, void *wire)
{
    if (aps_indices_is_bitmap(k, n))
        indices_mark(indices, k, base, aps_indices_bytes(k, n), wire);
    else
        indices_pack(indices, k, base, aps_indices_width(n), wire);
}

int aps_indices_decode(const void *wire, size_t k, uint32_t base, size_t n,
                       uint32_t *indices)
{
    const size_t bytes = aps_indices_bytes(k, n);
    int rc = -1;

    if (k <= n)
        rc = aps_indices_is_bitmap(k, n)
                 ? indices_find(wire, bytes, k, base, n, indices)
                 : indices_unpack(wire, bytes, k, base, n, aps_indices_width(n),
                                  indices);
    if (rc < 0)
        errno = EPROTO;
    return rc;
}

size_t aps_indices_below(const uint32_t *indices, size_t k, uint64_t bound)
{
    size_t first = 0;

    while (k > 0) {
        size_t half = k / 2;

        if (indices[first + half] < bound) {
            first += half + 1;
            k -= half + 1;
        } else {
            k = half;
        }
    }
    return first;
}
