/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "policy/layers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"

#define FIELDS 3
static const char *const header[FIELDS] = {"layer", "name", "count"};

/* Where a layer's name stood, for the message about another of that name. */
struct named {
    const char *name;
    int line;
    int column;
};

struct reading {
    const char *path;
    struct aps_errors *errors;
    const char *start; /* of the line */
    const char *end;   /* of the line */
    int line;
    char *names; /* the next free byte of the table's storage */
    struct aps_layers *table;
    struct named *named; /* one a layer */
    size_t total;        /* elements of all layers */
};

struct field {
    const char *text; /* NUL-terminated, in the table's storage */
    size_t length;
    int column;
};

#define line_error(reading, column, ...)                                       \
    aps_errors_add((reading)->errors, (reading)->path, (reading)->line,        \
                   column, __VA_ARGS__)

static int column_of(const struct reading *reading, const char *at)
{
    int column = 1;

    for (const char *p = reading->start; p < at; p++)
        column += ((unsigned char)*p & 0xc0) != 0x80; /* UTF-8 */
    return column;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/*
 * Copy "text" in quotes, "" being one quote, to the storage. Returns what
 * follows the closing quote, or NULL where there is none.
 */
static const char *copy_quoted(struct reading *reading, const char *at)
{
    for (at++; at < reading->end; at++) {
        if (*at == '"') {
            if (at + 1 == reading->end || at[1] != '"')
                return at + 1;
            at++;
        }
        *reading->names++ = *at;
    }
    return NULL;
}

/*
 * One field, blanks around it dropped. Returns its end, a comma or the end of
 * the line, or NULL after an error.
 */
static const char *read_field(struct reading *reading, const char *at,
                              struct field *field)
{
    at = skip_blanks(at, reading->end);
    field->text = reading->names;
    field->column = column_of(reading, at);
    if (at < reading->end && *at == '"') {
        at = copy_quoted(reading, at);
        if (!at) {
            line_error(reading, field->column, "the quote does not end");
            return NULL;
        }
        at = skip_blanks(at, reading->end);
        if (at < reading->end && *at != ',') {
            line_error(reading, column_of(reading, at),
                       "a comma must follow the closing quote");
            return NULL;
        }
    } else {
        while (at < reading->end && *at != ',')
            *reading->names++ = *at++;
        while (reading->names > field->text &&
               (reading->names[-1] == ' ' || reading->names[-1] == '\t'))
            reading->names--;
    }
    field->length = (size_t)(reading->names - field->text);
    /* Fits: the storage has room for the comma or newline that ends it. */
    *reading->names++ = '\0';
    return at;
}

/* The fields of a line; -1 unless there are FIELDS of them. */
static int read_fields(struct reading *reading, struct field fields[FIELDS])
{
    const char *at = reading->start;

    for (int count = 1;; count++) {
        at = read_field(reading, at, &fields[count - 1]);
        if (!at)
            return -1;
        if (at == reading->end && count == FIELDS)
            return 0;
        if (at == reading->end || count == FIELDS) {
            line_error(reading, column_of(reading, at),
                       "too %s fields: a line is layer,name,count",
                       count == FIELDS ? "many" : "few");
            return -1;
        }
        at++;
    }
}

static int read_header(struct reading *reading)
{
    char *storage = reading->names;
    struct field fields[FIELDS];

    if (read_fields(reading, fields) < 0)
        return -1;
    for (int i = 0; i < FIELDS; i++) {
        if (strcmp(fields[i].text, header[i]) != 0) {
            line_error(reading, fields[i].column,
                       "the first line must be layer,name,count");
            return -1;
        }
    }
    reading->names = storage;
    return 0;
}

static void check_index(const struct reading *reading,
                        const struct field *field, size_t expected)
{
    uintmax_t index;

    if (aps_digits_parse(field->text, field->length, UINTMAX_MAX, &index) < 0)
        line_error(reading, field->column,
                   "layer index '%.80s' is not a whole number", field->text);
    else if (index != expected)
        line_error(reading, field->column,
                   "layer index %ju out of order: expected %zu", index,
                   expected);
}

static size_t read_count(struct reading *reading, const struct field *field)
{
    uintmax_t count;

    if (aps_digits_parse(field->text, field->length, PTRDIFF_MAX, &count) < 0) {
        line_error(reading, field->column, "count '%.80s' is %s", field->text,
                   errno == ERANGE ? "too large" : "not a whole number");
        return 0;
    }
    if (count == 0)
        line_error(reading, field->column, "count must be above 0");
    if (count > (uintmax_t)PTRDIFF_MAX - reading->total)
        line_error(reading, field->column,
                   "the counts up to here add up to too many elements");
    else
        reading->total += (size_t)count;
    return (size_t)count;
}

static void read_layer(struct reading *reading)
{
    struct aps_layers *table = reading->table;
    size_t index = table->count++;
    char *storage = reading->names;
    struct field fields[FIELDS];

    /* A bad line still counts as a layer, or all that follow were out of
     * order. The table is given up anyway. */
    reading->named[index] = (struct named){"", reading->line, 0};
    if (read_fields(reading, fields) < 0) {
        reading->names = storage;
        return;
    }
    check_index(reading, &fields[0], index);
    if (fields[1].length == 0)
        line_error(reading, fields[1].column, "the layer has no name");
    table->list[index].count = read_count(reading, &fields[2]);
    /* Keep the name only. */
    memmove(storage, fields[1].text, fields[1].length + 1);
    reading->names = storage + fields[1].length + 1;
    table->list[index].name = storage;
    reading->named[index].name = storage;
    reading->named[index].column = fields[1].column;
}

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static void check_names(struct reading *reading)
{
    size_t count = reading->table->count;
    const struct named *first = reading->named;

    if (count == 0)
        return;
    qsort(reading->named, count, sizeof *reading->named, by_name);
    for (const struct named *at = first + 1; at < reading->named + count;
         at++) {
        if (strcmp(at->name, first->name) != 0)
            first = at;
        else if (at->name[0] != '\0')
            aps_errors_add(reading->errors, reading->path, at->line, at->column,
                           "duplicate layer name '%.80s', first in line %d",
                           at->name, first->line);
    }
}

static void read_lines(struct reading *reading, const char *text, size_t length)
{
    const char *end = text + length;
    bool headed = false;

    for (reading->start = text; reading->start < end; reading->line++) {
        const char *newline =
            memchr(reading->start, '\n', (size_t)(end - reading->start));
        const char *next = newline ? newline + 1 : end;
        const char *first;

        reading->end = newline ? newline : end;
        if (reading->end > reading->start && reading->end[-1] == '\r')
            reading->end--;
        first = skip_blanks(reading->start, reading->end);
        if (first < reading->end && *first != '#') {
            if (headed)
                read_layer(reading);
            else if (read_header(reading) < 0)
                return; /* another kind of file */
            headed = true;
        }
        reading->start = next;
    }
    if (reading->table->count == 0)
        aps_errors_add(reading->errors, reading->path, 1, 1,
                       "the table has no layers");
}

/* At least the number of layers. */
static size_t count_lines(const char *text, size_t length)
{
    size_t lines = 1;

    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

int aps_layers_parse(const char *path, const char *text, size_t length,
                     struct aps_layers **layers, struct aps_errors *errors)
{
    struct reading reading = {.path = path, .errors = errors, .line = 1};
    size_t lines = count_lines(text, length);
    size_t before = errors->count;
    struct aps_layers *table;

    table = calloc(1, sizeof *table);
    if (!table)
        goto no_memory;
    table->list = calloc(lines, sizeof *table->list);
    table->names = malloc(length + 1);
    reading.named = calloc(lines, sizeof *reading.named);
    if (!table->list || !table->names || !reading.named)
        goto free_all;
    reading.table = table;
    reading.names = table->names;
    read_lines(&reading, text, length);
    check_names(&reading);
    free(reading.named);
    if (errors->count > before) {
        aps_errors_sort(errors);
        aps_layers_destroy(table);
        errno = EINVAL;
        return -1;
    }
    *layers = table;
    return 0;

free_all:
    free(reading.named);
    aps_layers_destroy(table);
no_memory:
    aps_errors_add(errors, path, 0, 0, "out of memory");
    errno = ENOMEM;
    return -1;
}

void aps_layers_destroy(struct aps_layers *layers)
{
    if (!layers)
        return;
    free(layers->list);
    free(layers->names);
    free(layers);
}
