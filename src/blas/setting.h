/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Section of the policy file on matrix products, read once per process.
 */
#ifndef APS_GEMM_SETTING_H
#define APS_GEMM_SETTING_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

/*
 * Returns the first rule of the section `gemm` of APSMPI_POLICY, or NULL if the
 * program's BLAS computes all products: no policy, no section, APSMPI_ENABLE=off. The
 * first call reads the file, not a constructor, because the library also enters
 * shells and helpers that never multiply. A bad policy or variable is reported
 * and ends the process, or with APSMPI_ON_ERROR=pass leaves products to BLAS.
 */
const struct aps_policy_gemm *aps_gemm_setting(void);

/* After aps_gemm_setting: the rank that the launcher has set, or 0. */
uint32_t aps_gemm_rank(void);

/* After aps_gemm_setting: true if this process prints a line about its products at its
 * end: APSMPI_SUMMARY is on, its rank is 0, and it is not a fork of one that has
 * called aps_gemm_setting. */
bool aps_gemm_summary(void);

#endif
