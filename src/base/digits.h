/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unsigned decimal numbers, strictly: digits and nothing else, no sign, no
 * blanks, no prefix. strtoul accepts all of these and wraps "-1".
 */
#ifndef APS_BASE_DIGITS_H
#define APS_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The number that `length` bytes at `text` spell. 0, or -1 with errno EINVAL
 * (empty, or something else than digits) or ERANGE (more than `max`).
 */
int aps_digits_parse(const char *text, size_t length, uintmax_t max,
                     uintmax_t *number);

/*
 * The number that `text` spells: digits; digits with Ki, Mi or Gi, powers of 1024,
 * and blanks between them if need be; or a power of two, 2^N. 0, or -1 as
 * aps_digits_parse.
 */
int aps_whole_parse(const char *text, uintmax_t max, uintmax_t *number);

#endif
