/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors that carry a place and a cause from the function that detects them up to
 * the function that prints them.
 *
 * The convention of the house: a function that can fail returns 0, or -1 with
 * errno set, and fills an optional struct aps_error. Readers of files that can
 * report several errors at once add them to a struct aps_errors.
 */
#ifndef APS_BASE_ERROR_H
#define APS_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#include "aps.h"

/*
 * Fill `error` (may be NULL): place and formatted text. `file` may be NULL,
 * line and column 0 mean none. Sets errno to `code` and returns -1, so that a
 * caller can write `return aps_error_set(...)`.
 */
int aps_error_set(struct aps_error *error, int code, const char *file, int line,
                  int column, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/*
 * "file:line:col: text" of an error, without the parts that it lacks. Writes at
 * most `size` bytes with the final NUL and returns `buffer`.
 */
char *aps_error_format(const struct aps_error *error, char *buffer,
                       size_t size);

/*
 * Errors found in one reading of a file. The first APS_ERRORS_MAX are kept, all
 * are counted; no allocation. {.count = 0} is an empty one.
 */
#define APS_ERRORS_MAX 50
struct aps_errors {
    size_t count; /* found; min(count, APS_ERRORS_MAX) stand in list */
    struct aps_error list[APS_ERRORS_MAX];
};

void aps_errors_add(struct aps_errors *errors, const char *file, int line,
                    int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Stable order by line and column, file by file. */
void aps_errors_sort(struct aps_errors *errors);

#endif
