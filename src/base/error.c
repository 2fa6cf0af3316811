/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/print.h"

static void fill(struct aps_error *error, const char *file, int line,
                 int column, const char *format, va_list args)
{
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    error->line = line;
    error->column = column;
    aps_vprint(error->text, sizeof error->text, format, args);
}

int aps_error_set(struct aps_error *error, int code, const char *file, int line,
                  int column, const char *format, ...)
{
    if (error) {
        va_list args;

        va_start(args, format);
        fill(error, file, line, column, format, args);
        va_end(args);
    }
    errno = code;
    return -1;
}

static char *format_as(const struct aps_error *error, const char *kind,
                       char *buffer, size_t size)
{
    if (error->file[0] == '\0')
        snprintf(buffer, size, "%s%s", kind, error->text);
    else if (error->line <= 0)
        snprintf(buffer, size, "%s: %s%s", error->file, kind, error->text);
    else if (error->column <= 0)
        snprintf(buffer, size, "%s:%d: %s%s", error->file, error->line, kind,
                 error->text);
    else
        snprintf(buffer, size, "%s:%d:%d: %s%s", error->file, error->line,
                 error->column, kind, error->text);
    return buffer;
}

char *aps_error_format(const struct aps_error *error, char *buffer, size_t size)
{
    return format_as(error, "", buffer, size);
}

char *aps_warning_format(const struct aps_error *warning, char *buffer,
                         size_t size)
{
    return format_as(warning, "warning: ", buffer, size);
}

size_t aps_errors_kept(const struct aps_errors *errors)
{
    return errors->count < APS_ERRORS_MAX ? errors->count : APS_ERRORS_MAX;
}

size_t aps_warnings_kept(const struct aps_errors *errors)
{
    return errors->warning_count < APS_WARNINGS_MAX ? errors->warning_count
                                                    : APS_WARNINGS_MAX;
}

void aps_errors_add(struct aps_errors *errors, const char *file, int line,
                    int column, const char *format, ...)
{
    va_list args;

    if (errors->count < APS_ERRORS_MAX) {
        va_start(args, format);
        fill(&errors->list[errors->count], file, line, column, format, args);
        va_end(args);
    }
    errors->count++;
}

void aps_errors_warn(struct aps_errors *errors, const char *file, int line,
                     int column, const char *format, ...)
{
    va_list args;

    if (errors->warning_count < APS_WARNINGS_MAX) {
        va_start(args, format);
        fill(&errors->warnings[errors->warning_count], file, line, column,
             format, args);
        va_end(args);
    }
    errors->warning_count++;
}

static bool is_after(const struct aps_error *a, const struct aps_error *b)
{
    return a->line > b->line || (a->line == b->line && a->column > b->column);
}

/* Insertion sort, because errors are few and it is stable. Files come in the
 * order of their first errors. */
static void sort_list(struct aps_error *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct aps_error moving = list[i];
        size_t place = i;

        while (place > 0 && strcmp(list[place - 1].file, moving.file) != 0)
            place--;
        if (place == 0)
            continue; /* the first of its file */
        while (place > 0 && strcmp(list[place - 1].file, moving.file) == 0 &&
               is_after(&list[place - 1], &moving))
            place--;
        memmove(&list[place + 1], &list[place], (i - place) * sizeof *list);
        list[place] = moving;
    }
}

void aps_errors_sort(struct aps_errors *errors)
{
    sort_list(errors->list, aps_errors_kept(errors));
    sort_list(errors->warnings, aps_warnings_kept(errors));
}
