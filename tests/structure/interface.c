/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the interface on which a program that was compiled with aps.h relies:
 * offsets of members of public structs, and values of public constants.
 */
#include <stddef.h>
#include <stdio.h>

#include "aps_policy.h"
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
    MEMBER(aps_gemm_arguments, cast);
    SIZE(aps_layer_request);
    MEMBER(aps_layer_request, size);
    MEMBER(aps_layer_request, count);
    MEMBER(aps_layer_request, name);
    MEMBER(aps_layer_request, layer);
    MEMBER(aps_layer_request, epoch);
    MEMBER(aps_layer_request, step);
    MEMBER(aps_layer_request, ranks);
    MEMBER(aps_layer_request, reserved);
    SIZE(aps_scaler_facts);
    MEMBER(aps_scaler_facts, size);
    MEMBER(aps_scaler_facts, max_exponent);
    MEMBER(aps_scaler_facts, reserved);
    MEMBER(aps_scaler_facts, max);
    MEMBER(aps_scaler_facts, n);
    MEMBER(aps_scaler_facts, sum);
    MEMBER(aps_scaler_facts, sum_squares);
    MEMBER(aps_scaler_facts, nonzero);
    MEMBER(aps_scaler_facts, sum_log);
    MEMBER(aps_scaler_facts, sum_log_squares);
    SIZE(aps_scaler_record);
    MEMBER(aps_scaler_record, size);
    MEMBER(aps_scaler_record, in_max);
    MEMBER(aps_scaler_record, sum_max);
    MEMBER(aps_scaler_record, over);
    MEMBER(aps_scaler_record, nonfinite);
    MEMBER(aps_scaler_record, reserved);
    SIZE(aps_roundoff);
    MEMBER(aps_roundoff, size);
    MEMBER(aps_roundoff, compared);
    MEMBER(aps_roundoff, skipped);
    MEMBER(aps_roundoff, underflow);
    MEMBER(aps_roundoff, overflow);
    MEMBER(aps_roundoff, nonfinite);
    MEMBER(aps_roundoff, infinite);
    MEMBER(aps_roundoff, sum_relative);
    MEMBER(aps_roundoff, max_relative);
    MEMBER(aps_roundoff, sum_error2);
    MEMBER(aps_roundoff, sum_reference2);
    CONSTANT(APS_ROUND_NEAREST);
    CONSTANT(APS_ROUND_STOCHASTIC);
    CONSTANT(APS_ROUND_TOWARD_ZERO);
    CONSTANT(APS_ROUND_CPD);
    CONSTANT(APS_ROUND_CORRELATED);
    CONSTANT(APS_EXPONENT_ZERO);
    CONSTANT(APS_RANK_ALL);
    CONSTANT(APS_MESSAGE_BYTES);
    CONSTANT(APS_MESSAGE_FLOATS_SUM);
    CONSTANT(APS_MESSAGE_FLOATS_MAX);
    CONSTANT(APS_LAYER_PLAN_MAX);
#ifdef WITH_CUDA
    CONSTANT(APS_CUDA_TERMS);
#endif
    return 0;
}
