/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Section `gemm` of a policy: how matrix products are computed.
 *
 *     gemm: {format: e5m10, accumulate: {format: e8m23, chunk: 64}}
 *     gemm: {format: bfp7/64, format_b: bfp15/64}
 *
 * `format_b` is the format of the second operand, by default that of the first.
 * Without a format in `accumulate` sums have the format of the operands, or
 * FP32 if these are in blocks. `kahan` is off by default, and there are no
 * chunks. `format: fp32` leaves products to the program's BLAS.
 */
#ifndef APS_RULES_GEMM_H
#define APS_RULES_GEMM_H

#include "policy/policy.h"
#include "yaml/value.h"

/* Reads the value of the key `gemm`. Returns 0, or -1 after errors were
 * reported. */
int aps_gemm_read(const struct aps_reader *reader,
                  const struct aps_yaml_node *key,
                  struct aps_policy_gemm *gemm);

#endif
