/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floating point environment of the library's arithmetic.
 *
 * A host program may have selected flush to zero (-ffast-math does), another
 * rounding direction or trapping exceptions. The library's results must not
 * depend on that, must not differ between ranks, and must not raise the
 * program's traps: every rewritten call runs between enter and leave.
 */
#ifndef APS_BASE_FPENV_H
#define APS_BASE_FPENV_H

#include <fenv.h>

/* Saves the caller's environment and sets the default one. */
static inline void aps_fpenv_enter(fenv_t *saved)
{
    fegetenv(saved);
    fesetenv(FE_DFL_ENV);
}

/* Restores the caller's environment with its exception flags. */
static inline void aps_fpenv_leave(const fenv_t *saved)
{
    fesetenv(saved);
}

#endif
