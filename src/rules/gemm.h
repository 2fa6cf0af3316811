/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Section `gemm` of a policy: how matrix products are computed.
 *
 *     gemm: {format: e5m10, accumulate: {format: e8m23, chunk: 64}}
 *     gemm: {format: bfp7/64, format_b: bfp15/64}
 *     gemm: [{dimensions: 10, format: fp32}, {format: bfp3/64}]
 *     gemm: {format: bfp3/64, rounding: stochastic}
 *
 * `format_b` is the format of the second operand, by default that of the first.
 * Without a format in `accumulate` sums have the format of the operands, or
 * FP32 if these are in blocks. `kahan` is off by default, and there are no
 * chunks. `format: fp32` leaves products to the program's BLAS. In a list, the
 * first rule counts whose conditions, `dimensions` and `products`, hold.
 */
#ifndef APS_RULES_GEMM_H
#define APS_RULES_GEMM_H

#include "policy/policy.h"
#include "yaml/value.h"

/* Reads the value of the key `gemm`, a rule or a list of rules. Returns 0 with
 * *gemm, for aps_gemm_destroy, or -1 after errors were reported, with *gemm NULL. */
int aps_gemm_read(const struct aps_reader *reader,
                  const struct aps_yaml_node *key,
                  struct aps_policy_gemm **gemm);
void aps_gemm_destroy(struct aps_policy_gemm *gemm); /* NULL is allowed */

/* Returns the rule for product `number` of these sizes; NULL: none, the program's BLAS
 * computes it. */
const struct aps_policy_gemm *aps_gemm_rule(const struct aps_policy_gemm *gemm,
                                            long number, long m, long n,
                                            long k);

#endif
