/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unsigned decimal numbers, strictly: only digits, no sign, no blanks, no
 * prefix. strtoul accepts all of these and wraps "-1".
 */
#ifndef APS_BASE_DIGITS_H
#define APS_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>

/* Parses the `length` bytes at `text`. Returns 0, or -1 with errno EINVAL
 * (empty, or not only digits) or ERANGE (more than `max`). */
int aps_digits_parse(const char *text, size_t length, uintmax_t max,
                     uintmax_t *number);

/* Parses `text`: digits; digits, optional blanks and Ki, Mi or Gi, which are
 * powers of 1024; or a power of two, 2^N. Returns 0, or -1 with errno like
 * aps_digits_parse. */
int aps_whole_parse(const char *text, uintmax_t max, uintmax_t *number);

#endif
