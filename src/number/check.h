/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments of the C API, checked before anything is computed or written. The
 * functions return 0, or -1 with errno EINVAL and a text that begins with
 * `who`, the function that was called.
 */
#ifndef APS_NUMBER_CHECK_H
#define APS_NUMBER_CHECK_H

#include <stddef.h>

#include "number/format.h"

/* Scale exponents: kernel/ops.h. */
#define APS_CHECK_EXPONENT 400

/* A format of floats, not NULL, and not in blocks; `what` is the argument's
 * name. */
int aps_check_format(const char *who, const char *what,
                     const struct aps_format *format, struct aps_error *error);

/* A format of the operands of a product: in blocks, too, which are rounded to
 * nearest. */
int aps_check_operand(const char *who, const char *what,
                      const struct aps_format *format, struct aps_error *error);

/* A count of floats that can stand in memory; a negative number that became a
 * size_t cannot. */
int aps_check_count(const char *who, const char *what, size_t count,
                    struct aps_error *error);

/* Any format, a count, and two arrays that are there unless n is 0. */
int aps_check_array(const char *who, const struct aps_format *format,
                    const char *from_name, const void *from,
                    const char *to_name, const void *to, size_t n,
                    struct aps_error *error);

/* A rounding that there is, and is for this format, a scale exponent in range
 * and an offset where a block begins. *options is what was given,
 * completed (number/struct_version.h); NULL is round to nearest. */
int aps_check_options(const char *who, const struct aps_format *format,
                      const struct aps_cast_options *given,
                      struct aps_cast_options *options,
                      struct aps_error *error);

/* A rounding that this format has: that of the completed options. */
int aps_check_rounding(const char *who, const struct aps_format *format,
                       enum aps_rounding rounding, struct aps_error *error);

#endif
