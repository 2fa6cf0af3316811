/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of one thread of the kernel that converts elements of bf16, fp16 and double
 * (base/element.h) to FP32 and back, one at a time. Results have the bits of
 * pmpi/device/memory_relay.c: they are rounded to nearest even, a NaN becomes quiet.
 *
 * Read next: cuda/staged.c, which converts one piece at a time.
 */
#ifndef APS_CUDA_CONVERT_H
#define APS_CUDA_CONVERT_H

#include "base/element.h"
#include "cuda/threads.h"

#define APS_DOUBLE_INF 0x7ff0000000000000u

struct aps_convert_work {
    const unsigned char *from;
    unsigned char *to;
    uint32_t n;
    uint32_t bytes;           /* size of an element that is not FP32 */
    bool narrow;              /* from FP32, not to it */
    struct aps_format format; /* values of 16 bits: members that casts read */
};

APS_INLINE struct aps_convert_work
aps_convert_work_init(enum aps_element element, bool narrow, const void *from,
                      size_t n, void *to)
{
    const bool bf16 = element == APS_ELEMENT_BF16;
    struct aps_convert_work w = {};

    w.from = (const unsigned char *)from;
    w.to = (unsigned char *)to;
    w.n = (uint32_t)n;
    w.bytes = element == APS_ELEMENT_DOUBLE ? 8 : 2;
    w.narrow = narrow;
    w.format.width = 16;
    w.format.mantissa_bits = bf16 ? 7 : 10;
    w.format.bias = bf16 ? 127 : 15;
    w.format.kind = APS_FORMAT_IEEE;
    return w;
}

/* Returns the bits of the float to which the double with these bits is rounded.
 * A GPU's conversion would lose the sign and the mantissa of a NaN. */
APS_INLINE uint32_t aps_convert_from_double(uint64_t bits)
{
    union {
        uint64_t bits;
        double value;
    } u;

    u.bits = bits;
    if ((bits & ~(UINT64_C(1) << 63)) > APS_DOUBLE_INF)
        return (uint32_t)(bits >> 32 & APS_FLOAT_SIGN) | APS_FLOAT_NAN |
               (uint32_t)(bits >> 29 & 0x7fffff);
    return aps_float_bits((float)u.value);
}

APS_INLINE uint64_t aps_convert_to_double(uint32_t bits)
{
    union {
        double value;
        uint64_t bits;
    } u;

    u.value = aps_float_from_bits(bits);
    if (!aps_threads_is_nan(bits))
        return u.bits;
    return (uint64_t)(bits & APS_FLOAT_SIGN) << 32 | APS_DOUBLE_INF |
           (uint64_t)((bits & 0x7fffff) | APS_FLOAT_QUIET) << 29;
}

/* Load and store one element of 2 or 8 bytes, with one access if it lies at a multiple
 * of its size. */
APS_INLINE uint64_t aps_convert_load(const unsigned char *from, uint32_t bytes)
{
    uint64_t bits = 0;

    if ((uintptr_t)from % bytes != 0) {
        for (uint32_t k = 0; k < bytes; k++)
            bits |= (uint64_t)from[k] << 8 * k;
        return bits;
    }
#ifdef __CUDA_ARCH__
    return bytes == 8 ? *(const uint64_t *)from : *(const uint16_t *)from;
#else
    memcpy(&bits, from, bytes);
    return bits;
#endif
}

APS_INLINE void aps_convert_store(unsigned char *to, uint32_t bytes,
                                  uint64_t bits)
{
    if ((uintptr_t)to % bytes != 0) {
        for (uint32_t k = 0; k < bytes; k++)
            to[k] = (unsigned char)(bits >> 8 * k);
        return;
    }
#ifdef __CUDA_ARCH__
    if (bytes == 8)
        *(uint64_t *)to = bits;
    else
        *(uint16_t *)to = (uint16_t)bits;
#else
    memcpy(to, &bits, bytes);
#endif
}

APS_INLINE void aps_convert_element(const struct aps_convert_work *w,
                                    uint32_t i)
{
    const uint32_t bytes = w->bytes;

    if (w->narrow) {
        const uint32_t value = aps_threads_load_float(w->from, i);

        aps_convert_store(w->to + (size_t)i * bytes, bytes,
                          bytes == 8 ? aps_convert_to_double(value)
                                     : aps_cast_encode(&w->format, value, 0));
    } else {
        const uint64_t bits =
            aps_convert_load(w->from + (size_t)i * bytes, bytes);

        aps_threads_store_float(
            w->to, i,
            bytes == 8 ? aps_convert_from_double(bits)
                       : aps_cast_decode(&w->format, (uint32_t)bits));
    }
}

#endif
