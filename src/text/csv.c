/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "text/csv.h"

#include <stdbool.h>
#include <string.h>

/* The line that is being read. */
struct line {
    struct aps_csv *csv;
    const char *start;
    const char *end;
};

static int csv_column_of(const struct line *line, const char *at)
{
    int column = 1;

    for (const char *p = line->start; p < at; p++)
        column += ((unsigned char)*p & 0xc0) != 0x80; /* UTF-8 */
    return column;
}

static const char *csv_skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* Copies "text" in quotes, where "" is one quote, to the storage. Returns the
 * text after the closing quote, or NULL if there is none. */
static const char *csv_copy_quoted(struct line *line, const char *at)
{
    for (at++; at < line->end; at++) {
        if (*at == '"') {
            if (at + 1 == line->end || at[1] != '"')
                return at + 1;
            at++;
        }
        *line->csv->free++ = *at;
    }
    return NULL;
}

/* Reads one field. Returns its end, a comma or the end of the line, or NULL
 * after an error. */
static const char *csv_read_field(struct line *line, const char *at,
                                  struct aps_csv_field *field)
{
    struct aps_csv *csv = line->csv;

    at = csv_skip_blanks(at, line->end);
    field->text = csv->free;
    field->column = csv_column_of(line, at);
    if (at < line->end && *at == '"') {
        at = csv_copy_quoted(line, at);
        if (!at) {
            aps_csv_error(csv, field->column, "the quote does not end");
            return NULL;
        }
        at = csv_skip_blanks(at, line->end);
        if (at < line->end && *at != ',') {
            aps_csv_error(csv, csv_column_of(line, at),
                          "a comma must follow the closing quote");
            return NULL;
        }
    } else {
        while (at < line->end && *at != ',')
            *csv->free++ = *at++;
        while (csv->free > field->text &&
               (csv->free[-1] == ' ' || csv->free[-1] == '\t'))
            csv->free--;
    }
    field->length = (size_t)(csv->free - field->text);
    /* This fits: the storage has room for the comma or newline that ends the
     * field. */
    *csv->free++ = '\0';
    return at;
}

static int csv_read_fields(struct line *line)
{
    struct aps_csv *csv = line->csv;
    const char *at = line->start;

    for (int i = 0;; i++) {
        if (i == APS_CSV_FIELDS) {
            aps_csv_error(csv, csv_column_of(line, at),
                          "more than %d fields in a line", APS_CSV_FIELDS);
            return -1;
        }
        at = csv_read_field(line, at, &csv->fields[i]);
        if (!at)
            return -1;
        csv->count = i + 1;
        if (at == line->end) {
            csv->past_end = csv_column_of(line, at);
            return 1;
        }
        at++;
    }
}

void aps_csv_begin(struct aps_csv *csv, const char *path, const char *text,
                   size_t length, char *storage, struct aps_errors *errors)
{
    csv->path = path;
    csv->errors = errors;
    csv->line = 0;
    csv->count = 0;
    /* Spreadsheets begin UTF-8 files with a byte order mark. */
    csv->next =
        length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
    csv->end = text + length;
    csv->free = storage;
}

int aps_csv_next(struct aps_csv *csv)
{
    while (csv->next < csv->end) {
        struct line line = {.csv = csv, .start = csv->next};
        const char *newline =
            memchr(csv->next, '\n', (size_t)(csv->end - csv->next));
        const char *first;

        line.end = newline ? newline : csv->end;
        csv->next = newline ? newline + 1 : csv->end;
        csv->line++;
        if (line.end > line.start && line.end[-1] == '\r')
            line.end--;
        first = csv_skip_blanks(line.start, line.end);
        if (first < line.end && *first != '#')
            return csv_read_fields(&line);
    }
    return 0;
}
