/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/finite.h"

#include <stdint.h>

#include "base/cpu.h"
#include "kernel/kernel.h"

/* Elements between two checks of the result. */
#define BLOCK ((size_t)4096)

APS_INLINE bool finite_body(const float *x, size_t n)
{
    const aps_any_float *from = (const void *)x;

    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;

        if (aps_kernel_greatest(from + at, count) >= APS_FLOAT_INF)
            return false;
    }
    return true;
}

#define VARIANT(arg, CPU, name, target)                                        \
    target static bool finite_##name(const float *x, size_t n)                 \
    {                                                                          \
        return finite_body(x, n);                                              \
    }

APS_CPU_ROWS(VARIANT, )

bool aps_compress_finite(const float *x, size_t n)
{
    static bool (*const kernels[APS_CPUS])(const float *, size_t) =
        APS_CPU_TABLE(finite_);

    return kernels[aps_cpu_chosen()](x, n);
}
