/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a subcommand has to complain about: lines on standard error or, with
 * --json, members of the object on standard output. apsmpi(1) describes the
 * objects.
 */
#ifndef APS_COMMAND_PROBLEMS_H
#define APS_COMMAND_PROBLEMS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/arguments.h"

/* Errors, then warnings, a line each, on standard error. */
void aps_problems_print(const struct aps_errors *errors);

/* The members `errors` and `warnings`, and the numbers of those that are not
 * shown. */
void aps_problems_write(struct aps_json *json, const struct aps_errors *errors);

/* Open the object on standard output, with the members that every one has:
 * schema, command, version and ok. */
void aps_problems_open(struct aps_json *json,
                       const struct aps_arguments *arguments, bool ok);

/* Close the object and end its line. */
void aps_problems_close(struct aps_json *json);

/*
 * "apsmpi: TEXT" on standard error or, with --json, an object whose only error
 * has that text. Returns `status`.
 */
int aps_problems_fail(const struct aps_arguments *arguments, int status,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of errors in a file that was read: their lines, or an object with
 * them. */
int aps_problems_report(const struct aps_arguments *arguments, int status,
                        const struct aps_errors *errors);

/* The same of a wrong command line, followed by how the subcommand is used.
 * Returns APS_EXIT_USAGE. */
int aps_problems_usage(const struct aps_arguments *arguments,
                       const char *cause);

#endif
