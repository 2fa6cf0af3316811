/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The error of a sum: N ranks round their values to e4m3, in the middle of a
 * binade, and the sum of the rounded values is compared with the sum of the
 * values. For the test of correlated rounding and for its table.
 */
#ifndef APS_TESTS_UNIT_NUMBER_CORRELATED_ERROR_H
#define APS_TESTS_UNIT_NUMBER_CORRELATED_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "aps.h"

/* Distribution of the ranks' values of an element. */
struct correlated_values {
    const char *name;
    double spread; /* in steps of the format, uniform, about a common value */
    int rounded;   /* number of ranks with such values; the values of other
                    * ranks need no rounding; 0: all ranks; -2: half of them */
    bool opposed;  /* every second rank's values are negative */
};

#define CORRELATED_VALUES 11
extern const struct correlated_values correlated_values[CORRELATED_VALUES];

/* Mean squared error of a sum, in squares of a step, and its standard
 * deviation. */
struct correlated_error {
    double mean;
    double deviation;
};

/* Computes the error; the values do not depend on the rounding. */
struct correlated_error
correlated_error_of(enum aps_rounding rounding, int ranks,
                    const struct correlated_values *values);

#endif
