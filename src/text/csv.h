/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of a CSV file, with the places of their fields for messages. A field
 * may stand in double quotes, where a double quote is doubled; blanks around a
 * field are dropped. Empty lines and lines that begin with # are passed over.
 */
#ifndef APS_TEXT_CSV_H
#define APS_TEXT_CSV_H

#include <stddef.h>

#include "base/error.h"

#define APS_CSV_FIELDS 64 /* of a line, at most */

struct aps_csv_field {
    const char *text; /* NUL-terminated, in the storage */
    size_t length;
    int column; /* of the file, from 1, in characters */
};

struct aps_csv {
    const char *path;
    struct aps_errors *errors;
    int line;     /* of the file, from 1 */
    int count;    /* fields of the line */
    int past_end; /* the column behind the line */
    struct aps_csv_field fields[APS_CSV_FIELDS];
    /* Private. */
    const char *next; /* line */
    const char *end;  /* of the text */
    char *kept;       /* the first byte of the storage that is not kept */
};

/*
 * Read `text` of `length` bytes. `storage` has at least length + 1 bytes and
 * holds the fields; it belongs to the caller, and outlives `csv`. Errors name
 * `path`.
 */
void aps_csv_begin(struct aps_csv *csv, const char *path, const char *text,
                   size_t length, char *storage, struct aps_errors *errors);

/* The next line that has fields: 1; 0 at the end of the text; -1 if the line is
 * wrong, which is reported: `fields` and `count` are then not set, and the line
 * after it can be read. */
int aps_csv_next(struct aps_csv *csv);

/* Keep the text of a field in the storage; the other fields of the line are gone
 * then. */
const char *aps_csv_keep(struct aps_csv *csv,
                         const struct aps_csv_field *field);

/* An error at a column of the current line. */
#define aps_csv_error(csv, column, ...)                                        \
    aps_errors_add((csv)->errors, (csv)->path, (csv)->line, column, __VA_ARGS__)

#endif
