/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of one thread of a kernel, here and in encode.h and decode.h, written so
 * that the host can run it too: the tests run all threads of a kernel one after
 * the other and compare the bytes with the host codec's.
 *
 * A kernel's work is a struct that the host fills (aps_*_work_init) and passes
 * by value, and a number of units, which threads divide among themselves in any
 * order. Units from `inner` to `outer` are whole: they load and store 16 bytes
 * at a time, all of them inside the arrays. The few others are at the ends.
 *
 * Arrays are indexed with 32 bits; longer ones are cut (APS_THREADS_MAX).
 * Arrays of registers are indexed with constants only, because they would
 * otherwise be in memory.
 */
#ifndef APS_CUDA_THREADS_H
#define APS_CUDA_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef __CUDA_ARCH__
#include <assert.h>
#include <string.h>
#endif

#include "codec/codec.h"
#include "kernel/kernel.h"
#include "number/bits.h"
#include "number/cast.h"

/* Most floats of one launch. A multiple of 8, so that the wire of the next
 * launch begins at a byte. */
#define APS_THREADS_MAX ((size_t)1 << 26)

/* Findings of kernels, in device memory; all 0 at first. */
struct aps_cuda_result {
    uint32_t greatest; /* greatest magnitude, bit pattern: of all, NaN on top,
                          ... */
    uint32_t finite;   /* ... and of the finite ones */
    uint32_t marked;   /* encode: not 0 if the block needs its marker */
    uint32_t unused;
    unsigned long long underflow; /* struct aps_encode_stats */
    unsigned long long overflow;
    unsigned long long nonfinite;
};

/* Findings of one thread. */
struct aps_threads_seen {
    uint32_t greatest;
    uint32_t finite;
    uint32_t underflow;
    uint32_t overflow;
    uint32_t nonfinite;
};

/* --- memory -------------------------------------------------------------- */

/* Host memory must have the alignment that a GPU requires. */
#ifdef __CUDA_ARCH__
#define APS_THREADS_ALIGNED(pointer, size) ((void)0)
#else
#define APS_THREADS_ALIGNED(pointer, size)                                     \
    assert((uintptr_t)(pointer) % (size) == 0)
#endif

APS_INLINE uint32_t aps_threads_load4(const unsigned char *from)
{
#ifdef __CUDA_ARCH__
    return *(const uint32_t *)from;
#else
    uint32_t word;

    APS_THREADS_ALIGNED(from, 4);
    memcpy(&word, from, sizeof word);
    return word;
#endif
}

APS_INLINE void aps_threads_load16(const unsigned char *from, uint32_t *word)
{
#ifdef __CUDA_ARCH__
    uint4 v = *(const uint4 *)from;

    word[0] = v.x;
    word[1] = v.y;
    word[2] = v.z;
    word[3] = v.w;
#else
    APS_THREADS_ALIGNED(from, 16);
    memcpy(word, from, 16);
#endif
}

APS_INLINE void aps_threads_store2(unsigned char *to, uint32_t half)
{
#ifdef __CUDA_ARCH__
    *(uint16_t *)to = (uint16_t)half;
#else
    uint16_t low = (uint16_t)half;

    APS_THREADS_ALIGNED(to, 2);
    memcpy(to, &low, sizeof low);
#endif
}

APS_INLINE void aps_threads_store4(unsigned char *to, uint32_t word)
{
#ifdef __CUDA_ARCH__
    *(uint32_t *)to = word;
#else
    APS_THREADS_ALIGNED(to, 4);
    memcpy(to, &word, sizeof word);
#endif
}

APS_INLINE void aps_threads_store8(unsigned char *to, const uint32_t *word)
{
#ifdef __CUDA_ARCH__
    *(uint2 *)to = make_uint2(word[0], word[1]);
#else
    APS_THREADS_ALIGNED(to, 8);
    memcpy(to, word, 8);
#endif
}

APS_INLINE void aps_threads_store16(unsigned char *to, const uint32_t *word)
{
#ifdef __CUDA_ARCH__
    *(uint4 *)to = make_uint4(word[0], word[1], word[2], word[3]);
#else
    APS_THREADS_ALIGNED(to, 16);
    memcpy(to, word, 16);
#endif
}

/* Loads a float's bits at any address. */
APS_INLINE uint32_t aps_threads_load_float(const unsigned char *x, uint32_t i)
{
    const unsigned char *from = x + (size_t)i * 4;

    if ((uintptr_t)x % 4 == 0)
        return aps_threads_load4(from);
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

APS_INLINE void aps_threads_store_float(unsigned char *x, uint32_t i,
                                        uint32_t bits)
{
    unsigned char *to = x + (size_t)i * 4;

    if ((uintptr_t)x % 4 == 0) {
        aps_threads_store4(to, bits);
        return;
    }
    to[0] = (unsigned char)bits;
    to[1] = (unsigned char)(bits >> 8);
    to[2] = (unsigned char)(bits >> 16);
    to[3] = (unsigned char)(bits >> 24);
}

/* --- arithmetic ---------------------------------------------------------- */

APS_INLINE bool aps_threads_is_nan(uint32_t bits)
{
    return (bits & ~APS_FLOAT_SIGN) > APS_FLOAT_INF;
}

/* Returns a * b + c with a product that is exact, so that fusing it changes
 * nothing. */
APS_INLINE float aps_threads_fma(float a, float b, float c)
{
#ifdef __CUDA_ARCH__
    return __fmaf_rn(a, b, c);
#else
    return a * b + c;
#endif
}

/* Returns the product, with the sign of x: a GPU's NaN has none, and no
 * payload. */
APS_INLINE float aps_threads_signed(float product, uint32_t x)
{
    return aps_float_from_bits((aps_float_bits(product) & ~APS_FLOAT_SIGN) |
                               (x & APS_FLOAT_SIGN));
}

APS_INLINE void aps_threads_see(struct aps_threads_seen *seen, uint32_t bits)
{
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;

    seen->greatest = magnitude > seen->greatest ? magnitude : seen->greatest;
}

/* True if codes are integers (flexN), each encoded separately. */
APS_INLINE bool aps_threads_is_integer(const struct aps_format *format)
{
    return format->block == 1 && format->exponent_bits == 0;
}

/* --- the magnitude ------------------------------------------------------- */

/* Units are fours of floats between 16-byte boundaries. */
struct aps_magnitude_work {
    const unsigned char *x;
    uint32_t n;
    uint32_t behind; /* floats of unit 0 before x[0] */
    uint32_t units;
    uint32_t inner;
    uint32_t outer;
};

/* Returns the floats from the last 16-byte boundary to x; 0 if x is not even
 * aligned to floats, and then no unit is whole. */
APS_INLINE uint32_t aps_threads_behind(const void *x)
{
    return (uintptr_t)x % 4 == 0 ? (uint32_t)((uintptr_t)x % 16 / 4) : 0;
}

APS_INLINE struct aps_magnitude_work aps_magnitude_work_init(const float *x,
                                                             size_t n)
{
    struct aps_magnitude_work w = {};

    w.x = (const unsigned char *)x;
    w.n = (uint32_t)n;
    w.behind = aps_threads_behind(x);
    w.units = (w.n + w.behind + 3) / 4;
    w.inner = w.behind > 0;
    w.outer = (uintptr_t)x % 4 == 0 ? (w.n + w.behind) / 4 : 0;
    if (w.outer < w.inner)
        w.inner = w.outer = w.units;
    return w;
}

APS_INLINE void aps_magnitude_see(uint32_t bits, struct aps_threads_seen *seen)
{
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t finite = magnitude < APS_FLOAT_INF ? magnitude : 0;

    seen->greatest = magnitude > seen->greatest ? magnitude : seen->greatest;
    seen->finite = finite > seen->finite ? finite : seen->finite;
}

/* Loads a whole unit, and updates the findings. */
APS_INLINE void aps_magnitude_load(const struct aps_magnitude_work *w,
                                   uint32_t unit, uint32_t *word)
{
    const unsigned char *from = w->x - (size_t)w->behind * 4;

    aps_threads_load16(from + (size_t)unit * 16, word);
}

APS_INLINE void aps_magnitude_take(const uint32_t *word,
                                   struct aps_threads_seen *seen)
{
    for (int i = 0; i < 4; i++)
        aps_magnitude_see(word[i], seen);
}

/* Processes any other unit. */
APS_INLINE void aps_magnitude_edge(const struct aps_magnitude_work *w,
                                   uint32_t unit, struct aps_threads_seen *seen)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t at = unit * 4 + i - w->behind; /* wraps before x[0] */

        if (at < w->n)
            aps_magnitude_see(aps_threads_load_float(w->x, at), seen);
    }
}

#endif
