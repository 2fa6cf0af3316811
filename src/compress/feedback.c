/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/feedback.h"

#include <stdint.h>

#include "kernel/kernel.h"

APS_INLINE float feedback_left_of(float x, float sent)
{
    const uint32_t magnitude = aps_float_bits(sent) & ~APS_FLOAT_SIGN;
    const uint32_t left = aps_float_bits(x - sent);

    return aps_float_from_bits(
        aps_bits_less(magnitude, APS_FLOAT_INF, left, 0));
}

/* Two loops: if `left` is x, the compiler then needs no check. */
APS_INLINE void feedback_left_body(const aps_any_float *x,
                                   const aps_any_float *sent, size_t n,
                                   aps_any_float *left)
{
    if (left == x) {
        const aps_any_float *restrict from = sent;
        aps_any_float *restrict to = left;

        for (size_t i = 0; i < n; i++)
            to[i] = feedback_left_of(to[i], from[i]);
    } else {
        const aps_any_float *restrict of = x;
        const aps_any_float *restrict from = sent;
        aps_any_float *restrict to = left;

        for (size_t i = 0; i < n; i++)
            to[i] = feedback_left_of(of[i], from[i]);
    }
}

APS_INLINE void feedback_add_body(const aps_any_float *restrict kept, size_t n,
                                  aps_any_float *restrict sum)
{
    for (size_t i = 0; i < n; i++)
        sum[i] = aps_kernel_canonical(sum[i] + kept[i]);
}

#define VARIANT(arg, CPU, name, target)                                        \
    target static void feedback_left_##name(const aps_any_float *x,            \
                                            const aps_any_float *sent,         \
                                            size_t n, aps_any_float *left)     \
    {                                                                          \
        feedback_left_body(x, sent, n, left);                                  \
    }                                                                          \
    target static void feedback_add_##name(const aps_any_float *kept,          \
                                           size_t n, aps_any_float *sum)       \
    {                                                                          \
        feedback_add_body(kept, n, sum);                                       \
    }

APS_CPU_ROWS(VARIANT, )

void aps_feedback_left(const float *x, const float *sent, size_t n,
                       enum aps_cpu cpu, float *left)
{
    static void (*const kernels[APS_CPUS])(
        const aps_any_float *, const aps_any_float *, size_t, aps_any_float *) =
        APS_CPU_TABLE(feedback_left_);

    kernels[cpu]((const void *)x, (const void *)sent, n, (void *)left);
}

void aps_feedback_add(const float *kept, size_t n, enum aps_cpu cpu, float *sum)
{
    static void (*const kernels[APS_CPUS])(const aps_any_float *, size_t,
                                           aps_any_float *) =
        APS_CPU_TABLE(feedback_add_);

    kernels[cpu]((const void *)kept, n, (void *)sum);
}
