/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of cuda/kernels.h on the host: all threads' work (cuda/work.h),
 * one unit after the other. Compiled by the C compiler (emulate.c) and, if
 * there is one, by nvcc (emulate.cu). launch.c has the same functions by the
 * kernels themselves, on copies in a device's memory.
 */
#ifndef APS_TESTS_CUDA_EMULATE_H
#define APS_TESTS_CUDA_EMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/element.h"
#include "codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct aps_cuda_result;

const char *emulate_compiler(void);

/* Returns NULL, or the cause if it cannot run here. */
const char *emulate_skip(void);

/* aps_cast_round and aps_cast_decode. */
uint32_t emulate_round(const struct aps_format *format, uint32_t bits,
                       int exponent, enum aps_rounding rounding,
                       uint32_t random);
uint32_t emulate_value(const struct aps_format *format, uint32_t code);

void emulate_magnitude(const float *x, size_t n,
                       struct aps_cuda_result *result);
void emulate_encode(const struct aps_format *format, const float *x, size_t n,
                    struct aps_scaling scaling,
                    const struct aps_cast_options *options, const float *max,
                    bool stats, void *wire, struct aps_cuda_result *result);
void emulate_decode(const struct aps_format *format, const void *wire, size_t n,
                    struct aps_scaling scaling, unsigned flags, bool add,
                    float *x);

void emulate_convert(enum aps_element element, bool narrow, const void *from,
                     size_t n, void *to);

/* The functions of cuda/aps_cuda.h, with valid arguments. */
void emulate_cast_array(const struct aps_format *format, const float *x,
                        size_t n, const struct aps_cast_options *options,
                        float *y);
void emulate_sum(const struct aps_format *format, bool kahan, size_t chunk,
                 size_t terms, size_t n, const float *const x[], float *out);
void emulate_gemm(const struct aps_gemm_arguments *arguments);

#ifdef __cplusplus
}
#endif

#endif
