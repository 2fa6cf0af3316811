/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the policy file says of matrix products, read once per process.
 */
#ifndef APS_GEMM_SETTING_H
#define APS_GEMM_SETTING_H

#include "policy/policy.h"

/*
 * The section `gemm` of APSMPI_POLICY, or NULL where products are left to the
 * program's BLAS: no policy, no section, format fp32, APSMPI_ENABLE=off.
 *
 * The first call reads the file, not a constructor: the library also enters
 * shells and helpers that never multiply. A bad policy or variable is reported
 * and ends the process, or with APSMPI_ON_ERROR=pass leaves products alone.
 */
const struct aps_policy_gemm *aps_gemm_setting(void);

#endif
