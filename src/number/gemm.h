/* SPDX-License-Identifier: BSD-3-Clause */
/* aps_gemm (aps.h) by the kernel of an instruction set, and its arguments. */
#ifndef APS_NUMBER_GEMM_H
#define APS_NUMBER_GEMM_H

#include "base/cpu.h"
#include "number/format.h"

/* Checks the arguments of aps_gemm, like number/check.h; *arguments is *given,
 * completed. */
int aps_check_gemm(const char *who, const struct aps_gemm_arguments *given,
                   struct aps_gemm_arguments *arguments,
                   struct aps_error *error);

/* Runs aps_gemm with the kernel of a supported instruction set. */
int aps_gemm_on(enum aps_cpu cpu, const struct aps_gemm_arguments *given,
                struct aps_error *error);

#endif
