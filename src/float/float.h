/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec of plain float formats, once for every instruction set. "avx512"
 * asks for VBMI besides F, BW, VL and DQ: Ice Lake, Zen 4 and later. CPUs with
 * an older AVX-512 take "avx2".
 *
 * NaN: decode keeps the sign; the NaN of a decode_add is the positive canonical
 * one, since which operand's payload an addition keeps is the CPU's and the
 * compiler's choice. round turns every NaN into the canonical one of its sign,
 * also where the format has no code for it; in a format that saturates INF too.
 */
#ifndef APS_FLOAT_FLOAT_H
#define APS_FLOAT_FLOAT_H

#include "kernel/ops.h"

struct aps_float_variant {
    struct aps_codec codec; /* but for the format */
    /* Bit patterns: of the greatest finite magnitude, and of the greatest, NaN
     * above INF. */
    uint32_t (*max_finite)(const float *x, size_t n);
    uint32_t (*greatest)(const float *x, size_t n);
};

/* The variant of that name; NULL if this build or this CPU has none. */
const struct aps_float_variant *aps_float_variant_find(const char *cpu);

/* The fastest variant of this CPU. */
const struct aps_float_variant *aps_float_variant_best(void);

/* Fill the codec of a format with the functions of a variant. */
void aps_float_codec_init(const struct aps_format *format,
                          const struct aps_float_variant *variant,
                          struct aps_codec *codec);

#endif
