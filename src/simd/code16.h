/* SPDX-License-Identifier: BSD-3-Clause */
/* Codes of 16 bits that a CPU converts by one instruction: fp16, and bf16, whose codes
 * are the upper halves of floats. */
#ifndef APS_SIMD_CODE16_H
#define APS_SIMD_CODE16_H

#include <stdbool.h>

#include "kernel/kernel.h"

enum aps_code16_kind { APS_CODE16_ANY, APS_CODE16_FP16, APS_CODE16_BF16 };

/* Returns which of these are the kernel's codes. With a marker it has other
 * limits. */
APS_INLINE enum aps_code16_kind aps_code16_kind_of(const struct aps_kernel *k)
{
    const bool is_ieee = k->special == APS_FLOAT_INF;

    if (is_ieee && k->shift == 13 && k->limit == 0x7c00 &&
        k->rebias == 112u << 23)
        return APS_CODE16_FP16;
    return is_ieee && k->shift == 16 && k->limit == 0x7f80 && k->rebias == 0
               ? APS_CODE16_BF16
               : APS_CODE16_ANY;
}

#endif
