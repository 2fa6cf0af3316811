/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cli/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/plural.h"
#include "base/print.h"
#include "cli/command.h"

/* Incremented when a member changes its meaning or is removed, not for new
 * members. */
#define SCHEMA 1

/* Returns the prefix of a message: the command, unless the message names a
 * file. */
static const char *prefix(const struct aps_error *error)
{
    return error->file[0] ? "" : "apsmpi: ";
}

static void tell_left(const char *file, size_t left, const char *what)
{
    if (left > 0)
        fprintf(stderr, "%s: %zu more %s%s %s not shown\n", file, left, what,
                aps_plural(left), aps_plural_are(left));
}

void aps_problems_print(const struct aps_errors *errors)
{
    const size_t kept = aps_errors_kept(errors);
    const size_t warnings = aps_warnings_kept(errors);
    char line[sizeof(struct aps_error) + 32];

    for (size_t i = 0; i < kept; i++)
        fprintf(stderr, "%s%s\n", prefix(&errors->list[i]),
                aps_error_format(&errors->list[i], line, sizeof line));
    tell_left(errors->list[0].file, errors->count - kept, "error");
    for (size_t i = 0; i < warnings; i++)
        fprintf(stderr, "%s%s\n", prefix(&errors->warnings[i]),
                aps_warning_format(&errors->warnings[i], line, sizeof line));
    tell_left(errors->warnings[0].file, errors->warning_count - warnings,
              "warning");
}

static void write_number(struct aps_json *json, const char *key, int number)
{
    aps_json_unsigned_or_null(json, key, number > 0, (uintmax_t)number);
}

static void write_list(struct aps_json *json, const char *key,
                       const struct aps_error *list, size_t count)
{
    aps_json_open_array(json, key);
    for (size_t i = 0; i < count; i++) {
        aps_json_open_object(json, NULL);
        aps_json_text(json, "file", list[i].file[0] ? list[i].file : NULL);
        write_number(json, "line", list[i].line);
        write_number(json, "column", list[i].column);
        aps_json_text(json, "text", list[i].text);
        aps_json_close_object(json);
    }
    aps_json_close_array(json);
}

void aps_problems_write(struct aps_json *json, const struct aps_errors *errors)
{
    const size_t kept = aps_errors_kept(errors);
    const size_t warnings = aps_warnings_kept(errors);

    write_list(json, "errors", errors->list, kept);
    aps_json_unsigned(json, "errors_not_shown", errors->count - kept);
    write_list(json, "warnings", errors->warnings, warnings);
    aps_json_unsigned(json, "warnings_not_shown",
                      errors->warning_count - warnings);
}

void aps_problems_open(struct aps_json *json,
                       const struct aps_arguments *arguments, bool ok)
{
    *json = (struct aps_json){.stream = stdout};
    aps_json_open_object(json, NULL);
    aps_json_unsigned(json, "schema", SCHEMA);
    aps_json_text(json, "command", arguments->subcommand->name);
    aps_json_text(json, "version", PACKAGE_VERSION);
    aps_json_bool(json, "ok", ok);
}

void aps_problems_close(struct aps_json *json)
{
    aps_json_close_object(json);
    fputc('\n', json->stream);
}

int aps_problems_report(const struct aps_arguments *arguments, int status,
                        const struct aps_errors *errors)
{
    struct aps_json json;

    if (arguments->json) {
        aps_problems_open(&json, arguments, false);
        aps_problems_write(&json, errors);
        aps_problems_close(&json);
    } else {
        aps_problems_print(errors);
    }
    return status;
}

int aps_problems_fail(const struct aps_arguments *arguments, int status,
                      const char *format, ...)
{
    struct aps_errors *errors = aps_command_alloc(1, sizeof *errors);
    char text[512];
    va_list args;

    va_start(args, format);
    aps_vprint(text, sizeof text, format, args);
    va_end(args);
    if (arguments->json) {
        aps_errors_add(errors, NULL, 0, 0, "%s", text);
        aps_problems_report(arguments, status, errors);
    } else {
        fprintf(stderr, "apsmpi: %s\n", text);
    }
    free(errors);
    return status;
}

int aps_problems_usage(const struct aps_arguments *arguments, const char *cause)
{
    aps_problems_fail(arguments, APS_EXIT_USAGE, "%s", cause);
    if (!arguments->json)
        aps_arguments_usage(arguments->subcommand, stderr);
    return APS_EXIT_USAGE;
}
