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

#endif
