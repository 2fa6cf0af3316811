/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "codec/doubles.h"

#include <math.h>

#include "kernel/kernel.h"

typedef double any_double __attribute__((aligned(1), may_alias));

/* Makes a NaN canonical, as aps_kernel_canonical does. */
APS_INLINE double doubles_canonical(double y)
{
    return y == y ? y : (double)NAN;
}

/* Every loop for every instruction set. */
#define VARIANT(arg, CPU, name, target)                                        \
    target static void doubles_round_##name(                                   \
        const any_double *restrict x, size_t n, aps_any_float *restrict y)     \
    {                                                                          \
        for (size_t i = 0; i < n; i++)                                         \
            y[i] = (float)x[i];                                                \
    }                                                                          \
    target static void doubles_widen_##name(const aps_any_float *restrict x,   \
                                            size_t n, any_double *restrict y)  \
    {                                                                          \
        for (size_t i = 0; i < n; i++)                                         \
            y[i] = x[i];                                                       \
    }                                                                          \
    target static void doubles_add_##name(const aps_any_float *restrict x,     \
                                          size_t n, any_double *restrict sum)  \
    {                                                                          \
        for (size_t i = 0; i < n; i++)                                         \
            sum[i] = doubles_canonical(sum[i] + x[i]);                         \
    }

APS_CPU_ROWS(VARIANT, )

void aps_doubles_round(const double *x, size_t n, enum aps_cpu cpu, float *y)
{
    static void (*const kernels[APS_CPUS])(const any_double *, size_t,
                                           aps_any_float *) =
        APS_CPU_TABLE(doubles_round_);

    kernels[cpu]((const void *)x, n, (void *)y);
}

void aps_doubles_widen(const float *x, size_t n, enum aps_cpu cpu, double *y)
{
    static void (*const kernels[APS_CPUS])(const aps_any_float *, size_t,
                                           any_double *) =
        APS_CPU_TABLE(doubles_widen_);

    kernels[cpu]((const void *)x, n, (void *)y);
}

void aps_doubles_add(const float *x, size_t n, enum aps_cpu cpu, double *sum)
{
    static void (*const kernels[APS_CPUS])(const aps_any_float *, size_t,
                                           any_double *) =
        APS_CPU_TABLE(doubles_add_);

    kernels[cpu]((const void *)x, n, (void *)sum);
}
