/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real numbers in policies and layer tables: decimal, as in 0.5 and 1e-3, or a
 * power of two, as in 2^-7.
 */
#ifndef APS_BASE_REAL_H
#define APS_BASE_REAL_H

/* Parses the whole text, in any locale of the program. Returns NAN if it is not
 * a number; INFINITY, or the smallest number above 0, if it is too large or too
 * small for a double. The caller checks bounds. */
double aps_real_parse(const char *text);

/* Formats a finite number with enough digits that reading gives the same
 * double, and a point in every locale. Returns `buffer`. */
#define APS_REAL_TEXT_MAX 40
char *aps_real_format(double number, char buffer[APS_REAL_TEXT_MAX]);

/* Formats a number for people, like aps_real_format, with at most `digits`
 * digits, 17 or fewer. */
char *aps_real_round(double number, int digits, char buffer[APS_REAL_TEXT_MAX]);

#endif
