/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The section of a policy that says how matrix products are computed:
 *
 *     gemm: {format: e5m10, accumulator: e8m23, kahan: on}
 *
 * The accumulator is the format itself where it is not named, and `kahan` is
 * off. `format: fp32` leaves products to the program's BLAS.
 */
#ifndef APS_POLICY_GEMM_H
#define APS_POLICY_GEMM_H

#include "policy/policy.h"
#include "policy/value.h"

/* Read the value of the key `gemm`. 0, or -1 with the errors reported. */
int aps_gemm_read(const struct aps_reader *reader,
                  const struct aps_yaml_node *key,
                  struct aps_policy_gemm *gemm);

#endif
