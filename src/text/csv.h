/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reader of CSV files that keeps the places of fields for messages. A field may
 * be in double quotes, with each inner double quote doubled; blanks around a
 * field are dropped. Empty lines and lines that begin with # are skipped.
 */
#ifndef APS_TEXT_CSV_H
#define APS_TEXT_CSV_H

#include <stddef.h>

#include "base/error.h"

#define APS_CSV_FIELDS 64 /* most fields in a line */

struct aps_csv_field {
    const char *text; /* NUL-terminated, in the storage */
    size_t length;
    int column; /* in the file, from 1, in characters */
};

struct aps_csv {
    const char *path;
    struct aps_errors *errors;
    int line;     /* in the file, from 1 */
    int count;    /* fields of the line */
    int past_end; /* column after the end of the line */
    struct aps_csv_field fields[APS_CSV_FIELDS];
    /* Private. */
    const char *next; /* next line */
    const char *end;  /* end of the text */
    char *free;       /* next free byte of the storage */
};

/* Begins to read `text` of `length` bytes. `storage` has at least length + 1
 * bytes and holds the fields; it belongs to the caller, and outlives `csv`.
 * Errors name `path`. */
void aps_csv_begin(struct aps_csv *csv, const char *path, const char *text,
                   size_t length, char *storage, struct aps_errors *errors);

/* Reads the next line that has fields. Returns 1; 0 at the end of the text; -1
 * after an error, which is reported: `fields` and `count` are then not set, and
 * the next line can be read. */
int aps_csv_next(struct aps_csv *csv);

/* Adds an error at a column of the current line. */
#define aps_csv_error(csv, column, ...)                                        \
    aps_errors_add((csv)->errors, (csv)->path, (csv)->line, column, __VA_ARGS__)

#endif
