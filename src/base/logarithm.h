/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log2 and exp with the same bits on every machine. A C library's functions
 * differ in the last bit between versions and CPUs, which is enough for two
 * ranks to choose different scale exponents.
 */
#ifndef APS_BASE_LOGARITHM_H
#define APS_BASE_LOGARITHM_H

/* Returns log2(x) of a finite x > 0, to within 2 units in the last place; exact
 * for powers of two. */
double aps_log2(double x);

/* Returns e^x for -700 <= x <= 700, to within 1e-14 of its value. */
double aps_exp(double x);

#endif
