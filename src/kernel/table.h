/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codecs by family of formats (number/family.h): a row of APS_FAMILIES is a
 * file here that fills the ops table for every instruction set.
 */
#ifndef APS_KERNEL_TABLE_H
#define APS_KERNEL_TABLE_H

#include "base/cpu.h"
#include "kernel/ops.h"

/* Fills *codec with the functions of a variant that this CPU supports. */
#define APS_CODEC_INIT(family, ops)                                            \
    void aps_codec_init_##ops(const struct aps_format *format,                 \
                              enum aps_cpu cpu, struct aps_codec *codec);
APS_FAMILIES(APS_CODEC_INIT)
#undef APS_CODEC_INIT

/* Instruction sets of codecs: "avx2" has FMA and F16C, "avx512" has VBMI. "neon" has
 * the kernels *_avx2.h, by simd/avx2_neon.h. Compilers must not fuse two operations
 * (KERNEL_CFLAGS in configure.ac). */
#define APS_CODEC_PLAIN
#define APS_CODEC_NEON
#if APS_CPU_ARM
#define APS_CODEC_AVX2
#endif
#if APS_CPU_X86
#define APS_CODEC_AVX2 __attribute__((target("avx2,bmi2,fma,f16c")))
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

/* A loop that is called for each tile. Inlined into a long function, it would
 * not keep its constants in registers. */
#define APS_NOINLINE static __attribute__((noinline))

#endif
