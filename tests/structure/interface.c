/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the interface on which a program that was compiled with aps.h relies:
 * offsets of members of public structs, and values of public constants.
 */
#include <stddef.h>
#include <stdio.h>

#include "aps.h"
#ifdef WITH_CUDA
#include "cuda/aps_cuda.h"
#endif

#define SIZE(type) printf("struct %s: %zu bytes\n", #type, sizeof(struct type))
#define MEMBER(type, member)                                                   \
    printf("    %s: %zu bytes at %zu\n", #member,                              \
           sizeof(((struct type *)0)->member), offsetof(struct type, member))
#define CONSTANT(name) printf("%s = %lld\n", #name, (long long)(name))

int main(void)
{
    SIZE(aps_error);
    MEMBER(aps_error, file);
    MEMBER(aps_error, line);
    MEMBER(aps_error, column);
    MEMBER(aps_error, text);
    SIZE(aps_cast_options);
    MEMBER(aps_cast_options, size);
    MEMBER(aps_cast_options, seed);
    MEMBER(aps_cast_options, offset);
    MEMBER(aps_cast_options, layer);
    MEMBER(aps_cast_options, step);
    MEMBER(aps_cast_options, rounding);
    MEMBER(aps_cast_options, scale_exponent);
    MEMBER(aps_cast_options, stage);
    MEMBER(aps_cast_options, rank);
    MEMBER(aps_cast_options, ranks);
    SIZE(aps_gemm_arguments);
    MEMBER(aps_gemm_arguments, size);
    MEMBER(aps_gemm_arguments, format);
    MEMBER(aps_gemm_arguments, accumulator);
    MEMBER(aps_gemm_arguments, kahan);
    MEMBER(aps_gemm_arguments, transpose_a);
    MEMBER(aps_gemm_arguments, transpose_b);
    MEMBER(aps_gemm_arguments, m);
    MEMBER(aps_gemm_arguments, n);
    MEMBER(aps_gemm_arguments, k);
    MEMBER(aps_gemm_arguments, alpha);
    MEMBER(aps_gemm_arguments, a);
    MEMBER(aps_gemm_arguments, lda);
    MEMBER(aps_gemm_arguments, b);
    MEMBER(aps_gemm_arguments, ldb);
    MEMBER(aps_gemm_arguments, beta);
    MEMBER(aps_gemm_arguments, c);
    MEMBER(aps_gemm_arguments, ldc);
    MEMBER(aps_gemm_arguments, chunk);
    MEMBER(aps_gemm_arguments, format_b);
    CONSTANT(APS_ROUND_NEAREST);
    CONSTANT(APS_ROUND_STOCHASTIC);
    CONSTANT(APS_ROUND_TOWARD_ZERO);
    CONSTANT(APS_ROUND_CPD);
    CONSTANT(APS_ROUND_CORRELATED);
    CONSTANT(APS_EXPONENT_ZERO);
    CONSTANT(APS_RANK_ALL);
#ifdef WITH_CUDA
    CONSTANT(APS_CUDA_TERMS);
#endif
    return 0;
}
