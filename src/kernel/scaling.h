/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scaling of arrays with one rounding, whatever the factor and the exponent: by
 * a float multiplication if that suffices, or else through double. Inlined into
 * the loops of float.c.
 */
#ifndef APS_KERNEL_SCALING_H
#define APS_KERNEL_SCALING_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/ops.h"
#include "kernel/kernel.h"
#include "number/bits.h"

/*
 * True if one float multiplication by factor * 2^exponent is as good as the
 * exact product. The multiplier has to be a normal float. Then the product is
 * exact or, if it overflows, beyond every format, unless it falls below the
 * normal floats. There it is rounded, which matters only if the format has
 * values there: for E <= 7 every value below 2^-126 becomes zero. With 23
 * mantissa bits that rounding is the cast. A product with a factor is rounded
 * to float anyway.
 */
APS_INLINE bool aps_scaling_is_simple(const struct aps_format *format,
                                      struct aps_scaling scaling)
{
    if (scaling.exponent < -126 || scaling.exponent > 127)
        return false;
    return scaling.exponent >= 0 || format->exponent_bits < 8 ||
           format->mantissa_bits == 23 || scaling.factor != 1;
}

/* aps_scaling_is_simple where random bits round. With 8 exponent bits and a negative
 * exponent the product may be a subnormal float, which is rounded, and rounding it is
 * not the cast. With fewer exponent bits a step is so large that such a product has no
 * bits that could be rounded up. */
APS_INLINE bool aps_scaling_is_simple_drawn(const struct aps_format *format,
                                            struct aps_scaling scaling)
{
    return aps_scaling_is_simple(format, scaling) &&
           (format->exponent_bits < 8 || scaling.exponent >= 0 ||
            scaling.factor != 1);
}

/* True if one float multiplication by the inverse suffices, for a value that is
 * exact: the product is always rounded to float, once, and a division by a
 * factor is not a product. */
APS_INLINE bool aps_scaling_inverse_is_simple(struct aps_scaling scaling)
{
    return scaling.factor == 1 && scaling.exponent >= -127 &&
           scaling.exponent <= 126;
}

/*
 * y[n] = x[n] * factor * 2^exponent for all other scalings. The product is
 * exact in double. With a factor it is rounded to float. Without, a product
 * below the format's normal range is rounded to the format's step here, because
 * a conversion to float, with another step in E = 8, would round it a first
 * time.
 */
APS_INLINE void aps_scaling_multiply(const struct aps_format *format,
                                     const aps_any_float *restrict x, size_t n,
                                     struct aps_scaling scaling,
                                     float *restrict y)
{
    double factor = scaling.factor;
    double power = aps_double_pow2(scaling.exponent);
    double smallest = aps_format_min_normal(format);
    double magic =
        aps_double_pow2(1 - format->bias - format->mantissa_bits + 52);

    if (scaling.factor != 1)
        smallest = 0;
    for (size_t i = 0; i < n; i++) {
        double product = x[i] * factor * power;
        double magnitude = __builtin_fabs(product);
        double below = (magnitude + magic) - magic;

        below = __builtin_copysign(below, product);
        y[i] = (float)(magnitude < smallest ? below : product);
    }
}

/* y[n] (+)= x[n] / (factor * 2^exponent), rounded once: a double quotient of
 * two floats is never so close to the middle of two floats that a second
 * rounding gives another result. */
APS_INLINE void aps_scaling_divide(const float *restrict x, size_t n,
                                   struct aps_scaling scaling, bool add,
                                   aps_any_float *restrict y)
{
    double factor = scaling.factor;
    double power = aps_double_pow2(-scaling.exponent);

    for (size_t i = 0; i < n; i++) {
        float quotient = (float)(x[i] / factor * power);

        y[i] = add ? aps_kernel_canonical(y[i] + quotient) : quotient;
    }
}

#endif
