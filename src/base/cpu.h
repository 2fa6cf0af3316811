/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instruction sets that a kernel is compiled for, and which of them this
 * process uses.
 *
 * A kernel is one inline body with a thin function for each set, marked with
 * the macros below; a table indexed by enum aps_cpu holds the functions.
 */
#ifndef APS_BASE_CPU_H
#define APS_BASE_CPU_H

#include <stdbool.h>

/* AVX2 with BMI2, FMA and F16C; AVX-512 with F, BW, VL and DQ. */
enum aps_cpu { APS_CPU_PLAIN, APS_CPU_AVX2, APS_CPU_AVX512, APS_CPUS };

#if defined(__x86_64__)
#define APS_CPU_X86 1
#define APS_TARGET_AVX2 __attribute__((target("avx2")))
#if defined(__clang__)
#define APS_TARGET_AVX512                                                      \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#else
#define APS_TARGET_AVX512                                                      \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,"                \
                          "prefer-vector-width=512")))
#endif
#else
#define APS_CPU_X86 0
#endif

/* "plain", "avx2" or "avx512". */
const char *aps_cpu_name(enum aps_cpu cpu);

/* Parses the name of a variant, in small or capital letters. Returns 0, or -1
 * if the name is unknown. */
int aps_cpu_parse(const char *name, enum aps_cpu *cpu);

/* True if this build and this machine have the variant. */
bool aps_cpu_supported(enum aps_cpu cpu);

/* Returns the variant that APSMPI_CPU names, if it is supported, or else the
 * best. Chosen at the first call, the same for all threads. */
enum aps_cpu aps_cpu_chosen(void);

#endif
