/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The section of a policy that says how matrix products are computed:
 *
 *     gemm: {format: e5m10, accumulate: {format: e8m23, chunk: 64}}
 *     gemm: {format: bfp7/64, format_b: bfp15/64}
 *
 * `format_b` is that of the second operand, by default the same. Sums are in the
 * format itself, or where it is in blocks in FP32, if `accumulate` names none;
 * `kahan` is off, and there are no chunks. `format: fp32` leaves products to the
 * program's BLAS.
 */
#ifndef APS_RULES_GEMM_H
#define APS_RULES_GEMM_H

#include "policy/policy.h"
#include "yaml/value.h"

/* Read the value of the key `gemm`. 0, or -1 with the errors reported. */
int aps_gemm_read(const struct aps_reader *reader,
                  const struct aps_yaml_node *key,
                  struct aps_policy_gemm *gemm);

#endif
