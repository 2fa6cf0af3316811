/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floating point environment of our arithmetic.
 *
 * A host program may have asked for flush to zero (-ffast-math does), another
 * rounding direction or trapping exceptions. Our results must not depend on
 * that, must not differ between ranks, and must not raise its traps: every
 * rewritten call runs between enter and leave.
 */
#ifndef APS_BASE_FPENV_H
#define APS_BASE_FPENV_H

#include <fenv.h>

/* Save the caller's environment and set the default one. */
static inline void aps_fpenv_enter(fenv_t *saved)
{
    fegetenv(saved);
    fesetenv(FE_DFL_ENV);
}

/* Put the caller's environment back, exception flags as they were. */
static inline void aps_fpenv_leave(const fenv_t *saved)
{
    fesetenv(saved);
}

#endif
