/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of a policy: 1024, 64Ki, 2^10; 0.5, 1e3, 2^-7. Like those of value.h
 * the functions return 0, or -1 after the error was reported.
 */
#ifndef APS_YAML_NUMBER_H
#define APS_YAML_NUMBER_H

#include "yaml/value.h"

/*
 * Reads a whole number min..max: digits, digits with Ki, Mi or Gi (powers of
 * 1024), or a power of two 2^N.
 */
int aps_read_number(const struct aps_reader *reader,
                    const struct aps_yaml_node *key, long min, long max,
                    long *number);

/* Bounds of a real number. `above`: `min` itself is excluded. */
struct aps_real_bounds {
    double min;
    double max;
    bool above;
};

/* Reads a number within the bounds that is a finite float, not rounded to 0:
 * decimal, or a power of two 2^N, 2^-N. */
int aps_read_real(const struct aps_reader *reader,
                  const struct aps_yaml_node *key,
                  const struct aps_real_bounds *bounds, double *number);

#endif
