/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cast of arrays: loops without branches, written so that a compiler
 * vectorises them. Every function is inlined into a caller that is compiled for
 * one instruction set (float.c).
 *
 * The loops give the codes and values of number/cast.h in another way. A value
 * below the format's normal range is rounded by one float addition: adding 2^k
 * whose ulp is the format's smallest step leaves the code in the low mantissa
 * bits of the sum. A value in the normal range is rounded on its bit pattern.
 *
 * Valid C++, too, because CUDA C shares it.
 */
#ifndef APS_KERNEL_KERNEL_H
#define APS_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/ops.h"
#include "number/bits.h"
#include "number/cast.h"

/* How a kernel that decodes stores a value: it overwrites; it adds; it overwrites
 * with streaming stores (codec/stream.h), in an array that begins with a cache
 * line; or it rounds to an element of 16 bits (base/element.h). */
enum aps_put {
    APS_PUT,
    APS_PUT_ADD,
    APS_PUT_STREAM,
    APS_PUT_BF16,
    APS_PUT_FP16
};

/* Elements at any address, of any effective type. */
typedef float aps_any_float __attribute__((aligned(1), may_alias));
typedef uint8_t aps_any_u8;
typedef uint16_t aps_any_u16 __attribute__((aligned(1), may_alias));
typedef uint32_t aps_any_u32 __attribute__((aligned(1), may_alias));

/* The constants of a format, in registers during a loop. */
struct aps_kernel {
    uint32_t shift;      /* 23 - M: from a float's mantissa to the code's */
    uint32_t rebias;     /* difference of the biases, in the exponent field */
    uint32_t carry;      /* rounding and rebias, added before the shift; ... */
    uint32_t odd;        /* ... mask of the bit that breaks a tie to even */
    uint32_t min_normal; /* smallest normal value, bit pattern */
    float magic;         /* its ulp is the smallest step of the format */
    uint32_t first;      /* code of the smallest normal value */
    uint32_t limit;      /* the first code that is not a finite value */
    uint32_t overflow;   /* code of INF, and of values beyond the largest finite
                            one */
    uint32_t nan;        /* turns the code of INF into NaN's, by xor */
    uint32_t marked;     /* a greater |x| needs the marker; bit pattern */
    uint32_t special;    /* added to the bits of codes from the limit on */
    uint32_t sign_shift; /* 32 - width */
};

APS_INLINE struct aps_kernel aps_kernel_init(const struct aps_format *format)
{
    int m = format->mantissa_bits;
    int smallest = 1 - format->bias;
    struct aps_kernel k = {
        .shift = (uint32_t)(23 - m),
        .rebias = (uint32_t)(smallest - 1 + APS_FLOAT_BIAS) << 23,
        .min_normal = (uint32_t)(smallest + APS_FLOAT_BIAS) << 23,
        .magic = aps_float_pow2(smallest - m + 23),
        .first = 1u << m,
        .limit = aps_cast_limit(format),
        .overflow = aps_cast_inf(format),
        .nan = aps_cast_inf(format) ^ aps_cast_nan(format),
        .special =
            format->kind == APS_FORMAT_NAN ? APS_FLOAT_NAN : APS_FLOAT_INF,
        .sign_shift = (uint32_t)(32 - format->width),
    };

    /* NaN without a code, and an INF that would be decoded as a finite value */
    k.marked = format->saturate ? APS_FLOAT_INF - 1
               : m > 0          ? ~APS_FLOAT_SIGN
                                : APS_FLOAT_INF;

    if (m == 0) {
        /* every significand is 1, which is odd: a tie goes up */
        k.carry = (1u << 22) - k.rebias;
    } else if (m < 23) {
        k.carry = (1u << (22 - m)) - 1 - k.rebias;
        k.odd = 1;
    } else {
        k.carry = 0 - k.rebias;
    }
    return k;
}

/* Prepares to decode a block that has the marker: its codes of the largest
 * magnitude are NaN. */
APS_INLINE void aps_kernel_mark(struct aps_kernel *k)
{
    k->limit = k->overflow;
    k->special = APS_FLOAT_NAN;
}

/* Returns the code of a scaled value that is finite and not beyond the largest
 * finite one. */
APS_INLINE uint32_t aps_kernel_encode_bounded(const struct aps_kernel *k,
                                              float y)
{
    uint32_t bits = aps_float_bits(y);
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t sign = (bits & APS_FLOAT_SIGN) >> k->sign_shift;
    uint32_t below = aps_float_bits(aps_float_from_bits(magnitude) + k->magic) -
                     aps_float_bits(k->magic);
    uint32_t tie = magnitude >> k->shift & k->odd;
    uint32_t normal = (magnitude + k->carry + tie) >> k->shift;

    return aps_bits_less(magnitude, k->min_normal, below, normal) | sign;
}

/* Returns the magnitude of the code of any scaled value, in a format without an
 * upper limit: INF and NaN have codes from the limit on, too. */
APS_INLINE uint32_t aps_kernel_magnitude(const struct aps_kernel *k, float y)
{
    uint32_t magnitude = aps_float_bits(y) & ~APS_FLOAT_SIGN;
    uint32_t below = aps_float_bits(aps_float_from_bits(magnitude) + k->magic) -
                     aps_float_bits(k->magic);
    uint32_t tie = magnitude >> k->shift & k->odd;
    uint32_t normal = (magnitude + k->carry + tie) >> k->shift;

    return aps_bits_less(magnitude, k->min_normal, below, normal);
}

/* Returns the code of any scaled value. */
APS_INLINE uint32_t aps_kernel_encode(const struct aps_kernel *k, float y)
{
    uint32_t bits = aps_float_bits(y);
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t sign = (bits & APS_FLOAT_SIGN) >> k->sign_shift;
    uint32_t below = aps_float_bits(aps_float_from_bits(magnitude) + k->magic) -
                     aps_float_bits(k->magic);
    uint32_t tie = magnitude >> k->shift & k->odd;
    uint32_t normal = (magnitude + k->carry + tie) >> k->shift;
    uint32_t code = aps_bits_less(magnitude, k->min_normal, below, normal);

    code = aps_bits_less(code, k->limit, code, k->overflow);
    code ^= aps_bits_less(APS_FLOAT_INF, magnitude, k->nan, 0);
    return code | sign;
}

/* Returns the value of a code. */
APS_INLINE float aps_kernel_decode(const struct aps_kernel *k, uint32_t code)
{
    uint32_t aligned = code << k->sign_shift;
    uint32_t magnitude = (aligned & ~APS_FLOAT_SIGN) >> k->sign_shift;
    uint32_t below = aps_float_bits(
        aps_float_from_bits(aps_float_bits(k->magic) + magnitude) - k->magic);
    uint32_t normal = (magnitude << k->shift) + k->rebias;
    uint32_t bits = aps_bits_less(magnitude, k->first, below, normal);

    bits |= aps_bits_less(magnitude, k->limit, 0, k->special);
    return aps_float_from_bits(bits | (aligned & APS_FLOAT_SIGN));
}

/* Returns element i of an array of codes of 1, 2 or 4 bytes. */
APS_INLINE uint32_t aps_kernel_load(const void *codes, size_t i, int size)
{
    if (size == 1)
        return ((const aps_any_u8 *)codes)[i];
    if (size == 2)
        return ((const aps_any_u16 *)codes)[i];
    return ((const aps_any_u32 *)codes)[i];
}

APS_INLINE void aps_kernel_store(void *codes, size_t i, int size, uint32_t code)
{
    if (size == 1)
        ((aps_any_u8 *)codes)[i] = (uint8_t)code;
    else if (size == 2)
        ((aps_any_u16 *)codes)[i] = (uint16_t)code;
    else
        ((aps_any_u32 *)codes)[i] = code;
}

/* Returns the bit pattern of the greatest magnitude of x[n]. It is monotone,
 * and greatest for NaN. */
APS_INLINE uint32_t aps_kernel_greatest(const aps_any_float *x, size_t n)
{
    int32_t greatest = 0;

    for (size_t i = 0; i < n; i++) {
        int32_t magnitude = (int32_t)(aps_float_bits(x[i]) & ~APS_FLOAT_SIGN);

        greatest = magnitude > greatest ? magnitude : greatest;
    }
    return (uint32_t)greatest;
}

/* True if a value in x[n] needs the marker. */
APS_INLINE bool aps_kernel_needs_marker(const struct aps_kernel *k,
                                        const aps_any_float *x, size_t n)
{
    return aps_kernel_greatest(x, n) > k->marked;
}

/* codes[n] = codes of x[n] * scale, if no value is beyond the largest finite
 * one. */
APS_INLINE void
aps_kernel_encode_array_bounded(const struct aps_kernel *kernel,
                                const aps_any_float *__restrict x, size_t n,
                                float scale, void *__restrict codes, int size)
{
    const struct aps_kernel k = *kernel;

    for (size_t i = 0; i < n; i++)
        aps_kernel_store(codes, i, size,
                         aps_kernel_encode_bounded(&k, x[i] * scale));
}

/* codes[n] = codes of x[n] * scale. Returns aps_kernel_needs_marker of x[n]. */
APS_INLINE bool aps_kernel_encode_array(const struct aps_kernel *kernel,
                                        const aps_any_float *__restrict x,
                                        size_t n, float scale,
                                        void *__restrict codes, int size)
{
    const struct aps_kernel k = *kernel;
    int32_t greatest = 0;

    for (size_t i = 0; i < n; i++) {
        int32_t magnitude = (int32_t)(aps_float_bits(x[i]) & ~APS_FLOAT_SIGN);

        greatest = magnitude > greatest ? magnitude : greatest;
        aps_kernel_store(codes, i, size, aps_kernel_encode(&k, x[i] * scale));
    }
    return (uint32_t)greatest > k.marked;
}

/* Counts the values of x[n] beyond the limit. Returns
 * aps_kernel_needs_marker. */
APS_INLINE bool aps_kernel_count_beyond(const struct aps_kernel *kernel,
                                        const aps_any_float *x, size_t n,
                                        float scale,
                                        struct aps_encode_stats *stats)
{
    const struct aps_kernel k = *kernel;
    uint32_t beyond = 0, nonfinite = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t magnitude = aps_float_bits(x[i]) & ~APS_FLOAT_SIGN;
        uint32_t code = aps_kernel_magnitude(&k, x[i] * scale);

        beyond += (int32_t)code >= (int32_t)k.limit;
        nonfinite += (int32_t)magnitude >= (int32_t)APS_FLOAT_INF;
    }
    stats->overflow += beyond - nonfinite;
    stats->nonfinite += nonfinite;
    return nonfinite > 0 && aps_kernel_needs_marker(kernel, x, n);
}

/* Runs aps_kernel_encode_array, and adds its statistics to *stats. Few blocks
 * have values beyond the limit, among them those that are not finite; these are
 * counted in a separate loop. */
APS_INLINE bool aps_kernel_encode_array_stats(const struct aps_kernel *kernel,
                                              const aps_any_float *__restrict x,
                                              size_t n, float scale,
                                              void *__restrict codes, int size,
                                              struct aps_encode_stats *stats)
{
    const struct aps_kernel k = *kernel;
    uint32_t underflow = 0;
    int32_t most = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t bits = aps_float_bits(x[i]);
        uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
        uint32_t code = aps_kernel_magnitude(&k, x[i] * scale);

        most = (int32_t)code > most ? (int32_t)code : most;
        underflow += code == 0 && magnitude != 0;
        code = aps_bits_less(code, k.limit, code, k.overflow);
        code ^= aps_bits_less(APS_FLOAT_INF, magnitude, k.nan, 0);
        code |= (bits & APS_FLOAT_SIGN) >> k.sign_shift;
        aps_kernel_store(codes, i, size, code);
    }
    stats->underflow += underflow;
    return most >= (int32_t)k.limit &&
           aps_kernel_count_beyond(kernel, x, n, scale, stats);
}

/* Makes a NaN canonical, because its sign and payload may depend on the order
 * of the operands that a compiler chose. */
APS_INLINE float aps_kernel_canonical(float y)
{
    uint32_t bits = aps_float_bits(y);
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;

    return aps_float_from_bits(
        aps_bits_less(APS_FLOAT_INF, magnitude, APS_FLOAT_NAN, bits));
}

/* x[n] = (or +=, if `add`) value of codes[n] * scale. */
APS_INLINE void aps_kernel_decode_array(const struct aps_kernel *kernel,
                                        const void *__restrict codes, int size,
                                        size_t n, float scale, bool add,
                                        aps_any_float *__restrict x)
{
    const struct aps_kernel k = *kernel;

    for (size_t i = 0; i < n; i++) {
        uint32_t code = aps_kernel_load(codes, i, size);
        float y = aps_kernel_decode(&k, code) * scale;

        x[i] = add ? aps_kernel_canonical(x[i] + y) : y;
    }
}

/* Returns the bit pattern of the greatest finite magnitude of x[n]. */
APS_INLINE uint32_t aps_kernel_max_finite(const aps_any_float *x, size_t n)
{
    int32_t max = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t magnitude = aps_float_bits(x[i]) & ~APS_FLOAT_SIGN;
        int32_t finite =
            (int32_t)(magnitude &
                      aps_bits_less(magnitude, APS_FLOAT_INF, 0xffffffffu, 0));

        max = finite > max ? finite : max;
    }
    return (uint32_t)max;
}

#endif
