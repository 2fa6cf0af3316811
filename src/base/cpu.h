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
#if defined(__aarch64__) && !defined(__AARCH64EB__)
#define APS_CPU_ARM 1
#define APS_TARGET_AVX2 /* kernels *_avx2.h: simd/avx2.h */
#else
#define APS_CPU_ARM 0
#endif

/* True if the kernels *_avx2.h can be compiled. */
#define APS_CPU_HAS_256 (APS_CPU_X86 || APS_CPU_ARM)

/* A row for each set of this architecture: ROW(arg, enumerator, name, target). AVX2 has
 * BMI2, FMA and F16C; AVX-512 has F, BW, VL and DQ. All 64-bit Arm has NEON. */
#if APS_CPU_X86
#define APS_CPU_ROWS(ROW, arg)                                                 \
    ROW(arg, PLAIN, plain, )                                                   \
    ROW(arg, AVX2, avx2, APS_TARGET_AVX2)                                      \
    ROW(arg, AVX512, avx512, APS_TARGET_AVX512)
#elif APS_CPU_ARM
#define APS_CPU_ROWS(ROW, arg)                                                 \
    ROW(arg, PLAIN, plain, )                                                   \
    ROW(arg, NEON, neon, )
#else
#define APS_CPU_ROWS(ROW, arg) ROW(arg, PLAIN, plain, )
#endif

#define APS_CPU_ENUM(arg, CPU, name, target) APS_CPU_##CPU,
enum aps_cpu { APS_CPU_ROWS(APS_CPU_ENUM, ) APS_CPUS };

/* The vectors of a body that several sets share: of 256 bits on AVX2 and NEON, which
 * simd/avx2_neon.h translates. Codecs use AVX-512 with VBMI only. */
enum aps_vectors {
    APS_VECTORS_PLAIN,
    APS_VECTORS_AVX2,
    APS_VECTORS_NEON = APS_VECTORS_AVX2,
    APS_VECTORS_AVX512
};

/* The initializer of an array of the names. */
#define APS_CPU_NAME(arg, CPU, name, target) #name,
#define APS_CPU_NAMES                                                          \
    {                                                                          \
        APS_CPU_ROWS(APS_CPU_NAME, )                                           \
    }

/* The initializer of a table of functions, prefix_plain and so on. */
#define APS_CPU_ENTRY(prefix, CPU, name, target) [APS_CPU_##CPU] = prefix##name,
#define APS_CPU_TABLE(prefix)                                                  \
    {                                                                          \
        APS_CPU_ROWS(APS_CPU_ENTRY, prefix)                                    \
    }

/* "plain", "avx2" or "avx512"; "neon" on Arm. */
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
