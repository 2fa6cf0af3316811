/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codecs by family of formats (number/family.h): a row of APS_FAMILIES is a
 * file here that fills the ops table for every instruction set.
 */
#ifndef APS_CODEC_TABLE_H
#define APS_CODEC_TABLE_H

#include "base/cpu.h"
#include "codec/ops.h"

/* Fill *codec with the functions of a variant that this CPU supports. */
#define APS_CODEC_INIT(family, ops)                                            \
    void aps_codec_init_##ops(const struct aps_format *format,                 \
                              enum aps_cpu cpu, struct aps_codec *codec);
APS_FAMILIES(APS_CODEC_INIT)
#undef APS_CODEC_INIT

/* Instruction sets of codecs: "avx512" has VBMI. */
#if defined(__x86_64__)
#define APS_CODEC_AVX2 __attribute__((target("avx2,bmi2")))
#if defined(__clang__)
#define APS_CODEC_AVX512                                                       \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,"     \
                          "bmi2")))
#else
#define APS_CODEC_AVX512                                                       \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,"     \
                          "bmi2,prefer-vector-width=512")))
#endif
#endif

#endif
