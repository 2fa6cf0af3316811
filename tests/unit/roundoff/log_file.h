/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code shared by the tests of the round-off log: a log in a directory of the
 * test, a row, and a reader of the log.
 */
#ifndef APS_TESTS_UNIT_ROUNDOFF_LOG_FILE_H
#define APS_TESTS_UNIT_ROUNDOFF_LOG_FILE_H

#include <stddef.h>

#include "roundoff/log.h"

#define LOG_FIELDS 40

extern char log_file_directory[];   /* set by log_file_begin */
extern char log_file_path[256];     /* the log */
extern char log_file_text[1 << 20]; /* result of log_file_read */

void log_file_begin(void);
void log_file_end(void); /* removes the directory */

void log_file_read(void);
void log_file_read_from(const char *path);
void log_file_write(const char *content); /* replaces the log */
void log_file_write_to(const char *path, const char *content);
void log_file_open(struct aps_log *log);

/* Returns the number of occurrences of `what` in log_file_text. */
size_t log_file_count(const char *what);

/* Returns a row whose values are all different. */
struct aps_log_row log_file_row(const char *name);

/* Splits a CSV line in place. Returns the number of fields. */
int log_file_split(char *line, char *fields[LOG_FIELDS + 1]);

#endif
