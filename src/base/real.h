/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real numbers in policies and layer tables: decimal, as in 0.5 and 1e-3, or a
 * power of two, as in 2^-7.
 */
#ifndef APS_BASE_REAL_H
#define APS_BASE_REAL_H

/* The number that the whole text spells, in any locale of the program; NAN if it
 * spells none; INFINITY, or the least number above 0, if it is too large or too
 * small for a double. The caller checks bounds. */
double aps_real_parse(const char *text);

/* A finite number with so many digits that reading gives the same double, and a
 * point in every locale. Returns `buffer`. */
#define APS_REAL_TEXT_MAX 40
char *aps_real_format(double number, char buffer[APS_REAL_TEXT_MAX]);

/* The same with so many digits, at most 17: for people. */
char *aps_real_round(double number, int digits, char buffer[APS_REAL_TEXT_MAX]);

#endif
