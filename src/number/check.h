/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments of the C API, checked before anything is computed or written. The
 * functions return 0, or -1 with errno EINVAL and a text that begins with
 * `who`, the function that was called.
 */
#ifndef APS_NUMBER_CHECK_H
#define APS_NUMBER_CHECK_H

#include <stddef.h>

#include "aps.h"

/* A format as aps_format_parse makes them; `what` is the argument's name. */
int aps_check_format(const char *who, const char *what,
                     const struct aps_format *format, struct aps_error *error);

/* A count of floats that can stand in memory; a negative number that became a
 * size_t cannot. */
int aps_check_count(const char *who, const char *what, size_t count,
                    struct aps_error *error);

#endif
