/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec of plain float formats, once for every instruction set. "avx512"
 * requires VBMI in addition to F, BW, VL and DQ: Ice Lake, Zen 4 and later.
 * CPUs with an older AVX-512 use "avx2".
 *
 * NaN: decode keeps the sign. The NaN of a decode_add is the positive canonical
 * NaN, because the CPU and the compiler choose which operand's payload an
 * addition keeps. round turns every NaN into the canonical NaN of its sign, even
 * if the format has no code for NaN. In a format that saturates, round also turns
 * INF into NaN.
 */
#ifndef APS_FLOAT_FLOAT_H
#define APS_FLOAT_FLOAT_H

#include "kernel/ops.h"

struct aps_float_variant {
    struct aps_codec codec; /* all members except the format */
    /* Return bit patterns: of the greatest finite magnitude, and of the
     * greatest magnitude, NaN above INF. */
    uint32_t (*max_finite)(const float *x, size_t n);
    uint32_t (*greatest)(const float *x, size_t n);
};

/* Returns the variant of that name, or NULL if this build or this CPU has
 * none. */
const struct aps_float_variant *aps_float_variant_find(const char *cpu);

/* Returns the fastest variant of this CPU. */
const struct aps_float_variant *aps_float_variant_best(void);

/* Fills the codec of a format with the functions of a variant. */
void aps_float_codec_init(const struct aps_format *format,
                          const struct aps_float_variant *variant,
                          struct aps_codec *codec);

#endif
