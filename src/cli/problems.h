/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors and warnings of a subcommand: lines on standard error, or with --json
 * members of the object on standard output. apsmpi(1) describes the objects.
 */
#ifndef APS_COMMAND_PROBLEMS_H
#define APS_COMMAND_PROBLEMS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/arguments.h"

/* Prints errors, then warnings, a line each, on standard error. */
void aps_problems_print(const struct aps_errors *errors);

/* Writes the members `errors` and `warnings`, and the numbers of those that are
 * not shown. */
void aps_problems_write(struct aps_json *json, const struct aps_errors *errors);

/* Opens the object on standard output, with the members that all objects have:
 * schema, command, version and ok. */
void aps_problems_open(struct aps_json *json,
                       const struct aps_arguments *arguments, bool ok);

/* Closes the object and ends its line. */
void aps_problems_close(struct aps_json *json);

/*
 * Prints "apsmpi: TEXT" on standard error, or with --json an object with that
 * text as its only error. Returns `status`.
 */
int aps_problems_fail(const struct aps_arguments *arguments, int status,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints the errors of a file, or an object with them. Returns `status`. */
int aps_problems_report(const struct aps_arguments *arguments, int status,
                        const struct aps_errors *errors);

/* Prints the error of a command line, and the usage of the subcommand. Returns
 * APS_EXIT_USAGE. */
int aps_problems_usage(const struct aps_arguments *arguments,
                       const char *cause);

#endif
