/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors that carry a place and a cause from the function that detects them up
 * to the function that prints them.
 *
 * The convention of this tree: a function that can fail returns 0, or -1 with
 * errno set, and fills an optional struct aps_error. A reader of a file that
 * can report several errors at once adds them to a struct aps_errors.
 */
#ifndef APS_BASE_ERROR_H
#define APS_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#include "aps.h"

/* Fills `error` (may be NULL) with the place and the formatted text. `file` may
 * be NULL; line and column 0 mean none. Sets errno to `code` and returns -1, so
 * that a caller can write `return aps_error_set(...)`. */
int aps_error_set(struct aps_error *error, int code, const char *file, int line,
                  int column, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Formats an error as "file:line:col: text", without the parts that it lacks.
 * Writes at most `size` bytes with the final NUL and returns `buffer`. */
char *aps_error_format(const struct aps_error *error, char *buffer,
                       size_t size);

/* Formats "file:line:col: warning: text", like aps_error_format. */
char *aps_warning_format(const struct aps_error *warning, char *buffer,
                         size_t size);

/* Errors and warnings found in one reading of a file. Only errors make the
 * reading fail. The first APS_ERRORS_MAX errors and APS_WARNINGS_MAX warnings
 * are kept, all are counted; no allocation. {.count = 0} is empty. */
#define APS_ERRORS_MAX 50
#define APS_WARNINGS_MAX 20
struct aps_errors {
    size_t count;         /* found; min(count, APS_ERRORS_MAX) are in list */
    size_t warning_count; /* warnings found */
    struct aps_error list[APS_ERRORS_MAX];
    struct aps_error warnings[APS_WARNINGS_MAX];
};

/* Returns the number of errors that are kept. */
size_t aps_errors_kept(const struct aps_errors *errors);
size_t aps_warnings_kept(const struct aps_errors *errors);

void aps_errors_add(struct aps_errors *errors, const char *file, int line,
                    int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds a warning, like aps_errors_add, about input that is permitted but hardly
 * meant. */
void aps_errors_warn(struct aps_errors *errors, const char *file, int line,
                     int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Sorts by line and column within each file, stably; errors and warnings
 * separately. */
void aps_errors_sort(struct aps_errors *errors);

#endif
