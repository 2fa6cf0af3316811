/* SPDX-License-Identifier: BSD-3-Clause */
/* The instructions of the kernels *_avx2.h, on x86-64 and on 64-bit Arm. */
#ifndef APS_SIMD_AVX2_H
#define APS_SIMD_AVX2_H

#include "base/cpu.h"

#if APS_CPU_X86
#include <immintrin.h>
#else
#include "simd/avx2_neon.h"
#endif

#endif
