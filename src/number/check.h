/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the C API's arguments, before anything is computed or written. The
 * functions return 0, or -1 with errno EINVAL and a text that begins with
 * `who`, the function that was called.
 */
#ifndef APS_NUMBER_CHECK_H
#define APS_NUMBER_CHECK_H

#include <stddef.h>

#include "number/format.h"

/* Bound of scale exponents (kernel/ops.h). */
#define APS_CHECK_EXPONENT 400

/* Checks that the argument `what` is a format of floats, not NULL, and not in
 * blocks. */
int aps_check_format(const char *who, const char *what,
                     const struct aps_format *format, struct aps_error *error);

/* Checks a format of the operands of a product. It may be in blocks. */
int aps_check_operand(const char *who, const char *what,
                      const struct aps_format *format, struct aps_error *error);

/* Checks a count of floats: it must fit into memory, which a negative number
 * converted to size_t does not. */
int aps_check_count(const char *who, const char *what, size_t count,
                    struct aps_error *error);

/* Checks any format, a count, and two arrays that may be NULL only if n is
 * 0. */
int aps_check_array(const char *who, const struct aps_format *format,
                    const char *from_name, const void *from,
                    const char *to_name, const void *to, size_t n,
                    struct aps_error *error);

/* Checks that the rounding exists and suits this format, that the scale
 * exponent is in range, and that the offset is the start of a block. *options
 * is *given, completed (number/struct_version.h); NULL is round to nearest. */
int aps_check_options(const char *who, const struct aps_format *format,
                      const struct aps_cast_options *given,
                      struct aps_cast_options *options,
                      struct aps_error *error);

/* Checks that this format has the rounding of the completed options. */
int aps_check_rounding(const char *who, const struct aps_format *format,
                       enum aps_rounding rounding, struct aps_error *error);

#endif
