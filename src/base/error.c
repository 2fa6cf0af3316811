/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void fill(struct aps_error *error, const char *file, int line,
                 int column, const char *format, va_list args)
{
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    error->line = line;
    error->column = column;
    vsnprintf(error->text, sizeof error->text, format, args);
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

char *aps_error_format(const struct aps_error *error, char *buffer, size_t size)
{
    if (error->file[0] == '\0')
        snprintf(buffer, size, "%s", error->text);
    else if (error->line <= 0)
        snprintf(buffer, size, "%s: %s", error->file, error->text);
    else if (error->column <= 0)
        snprintf(buffer, size, "%s:%d: %s", error->file, error->line,
                 error->text);
    else
        snprintf(buffer, size, "%s:%d:%d: %s", error->file, error->line,
                 error->column, error->text);
    return buffer;
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

static bool is_after(const struct aps_error *a, const struct aps_error *b)
{
    return a->line > b->line || (a->line == b->line && a->column > b->column);
}

/* Insertion sort: few errors, and it is stable. Files stand in the order of
 * their first errors. */
void aps_errors_sort(struct aps_errors *errors)
{
    size_t kept =
        errors->count < APS_ERRORS_MAX ? errors->count : APS_ERRORS_MAX;

    for (size_t i = 1; i < kept; i++) {
        const struct aps_error moving = errors->list[i];
        size_t place = i;

        while (place > 0 &&
               strcmp(errors->list[place - 1].file, moving.file) != 0)
            place--;
        if (place == 0)
            continue; /* the first of its file */
        while (place > 0 &&
               strcmp(errors->list[place - 1].file, moving.file) == 0 &&
               is_after(&errors->list[place - 1], &moving))
            place--;
        memmove(&errors->list[place + 1], &errors->list[place],
                (i - place) * sizeof *errors->list);
        errors->list[place] = moving;
    }
}
