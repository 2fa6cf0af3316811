/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "text/layer_table.h"

#include <errno.h>
#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/nearest.h"
#include "base/real.h"
#include "base/utf8.h"
#include "text/csv.h"

enum column {
    LAYER,
    NAME,
    COUNT,
    SHAPE,
    SCALE,
    FIRST,
    NETWORK,
    TYPE,
    COLUMNS,
    IGNORED = COLUMNS
};
#define NEEDED SHAPE /* number of columns before it */
static const char *const column_names[COLUMNS + 1] = {
    "layer", "name",    "count", "shape", "scale",
    "first", "network", "type",  NULL};

/* Place of a layer's name in the file, for the message about a duplicate. */
struct named {
    const char *name;
    int line;
    int column;
};

struct reading {
    struct aps_csv csv;
    int columns;                         /* columns of the header */
    enum column meaning[APS_CSV_FIELDS]; /* meaning of each column */
    struct aps_layers *table;
    struct named *named; /* one for each layer */
    size_t total;        /* elements of all layers */
    bool has_first;      /* the header has that column */
    const char *network; /* that of the last line; NULL: no such column */
    size_t begin;        /* its first row */
};

/* --- the header ----------------------------------------------------------- */

static enum column layers_find_column(const char *name)
{
    int column = 0;

    while (column < COLUMNS && strcmp(column_names[column], name) != 0)
        column++;
    return (enum column)column;
}

/* True if the line names any column. Otherwise one message is enough. */
static bool layers_has_names(const struct aps_csv *csv)
{
    for (int i = 0; i < csv->count; i++)
        if (layers_find_column(csv->fields[i].text) != COLUMNS)
            return true;
    return false;
}

static int layers_read_name(struct reading *reading, int i, bool seen[COLUMNS])
{
    struct aps_csv *csv = &reading->csv;
    const struct aps_csv_field *field = &csv->fields[i];
    const enum column column = layers_find_column(field->text);
    char hint[APS_HINT_MAX];

    reading->meaning[i] = column;
    if (column == COLUMNS && aps_name_is_ignored(field->text))
        return 0;
    if (column == COLUMNS) {
        aps_csv_error(csv, field->column, "unknown column '%.80s'%s",
                      field->text,
                      aps_nearest_hint(
                          aps_nearest_name(field->text, column_names), hint));
        return -1;
    }
    if (seen[column]) {
        aps_csv_error(csv, field->column, "column '%s' stands twice",
                      field->text);
        return -1;
    }
    seen[column] = true;
    return 0;
}

/* Returns 0, or -1 if the file is of another kind or no line can be read with
 * this header. */
static int layers_read_header(struct reading *reading)
{
    struct aps_csv *csv = &reading->csv;
    bool seen[COLUMNS] = {false};
    int rc = 0;

    if (!layers_has_names(csv)) {
        aps_csv_error(csv, csv->fields[0].column,
                      "the first line must name the columns: layer,name,count, "
                      "and shape and scale if they are known");
        return -1;
    }
    reading->columns = csv->count;
    for (int i = 0; i < csv->count; i++)
        rc |= layers_read_name(reading, i, seen);
    for (int column = 0; column < NEEDED && rc == 0; column++) {
        if (!seen[column]) {
            aps_csv_error(csv, csv->past_end, "the table has no column '%s'",
                          column_names[column]);
            rc = -1;
        }
    }
    return rc;
}

/* --- fields --------------------------------------------------------------- */

static void layers_check_index(const struct aps_csv *csv,
                               const struct aps_csv_field *field,
                               size_t expected)
{
    uintmax_t index;

    if (aps_digits_parse(field->text, field->length, UINTMAX_MAX, &index) < 0)
        aps_csv_error(csv, field->column,
                      "layer index '%.80s' is not a whole number", field->text);
    else if (index != expected)
        aps_csv_error(csv, field->column,
                      "layer index %ju out of order: expected %zu", index,
                      expected);
}

static size_t layers_read_count(struct reading *reading,
                                const struct aps_csv_field *field)
{
    const struct aps_csv *csv = &reading->csv;
    uintmax_t count;

    errno = EINVAL; /* error for a NUL in the field */
    if (strlen(field->text) != field->length ||
        aps_whole_parse(field->text, PTRDIFF_MAX, &count) < 0) {
        aps_csv_error(csv, field->column, "count '%.80s' is %s", field->text,
                      errno == ERANGE ? "too large" : "not a whole number");
        return 0;
    }
    if (count == 0)
        aps_csv_error(csv, field->column, "count must be above 0");
    if (count > (uintmax_t)PTRDIFF_MAX - reading->total)
        aps_csv_error(csv, field->column,
                      "the counts up to here add up to too many elements");
    else
        reading->total += (size_t)count;
    return (size_t)count;
}

/* Fills in the sizes. Returns 0, or -1 if `text` is not a shape. */
static int layers_parse_shape(const char *text, struct aps_layer_row *layer)
{
    for (layer->dimensions = 0; layer->dimensions < APS_LAYER_DIMENSIONS;) {
        const size_t length = strcspn(text, "x");
        uintmax_t size;

        if (aps_digits_parse(text, length, PTRDIFF_MAX, &size) < 0 || size == 0)
            return -1;
        layer->shape[layer->dimensions++] = (size_t)size;
        text += length;
        if (*text++ == '\0')
            return 0;
    }
    return -1;
}

static void layers_read_shape(const struct aps_csv *csv,
                              const struct aps_csv_field *field,
                              struct aps_layer_row *layer)
{
    size_t product = 1;
    bool fits = true;

    if (field->length == 0)
        return;
    if (layers_parse_shape(field->text, layer) < 0) {
        aps_csv_error(csv, field->column,
                      "shape '%.80s' is not up to %d sizes above 0, with x "
                      "between them: 64x3x7x7",
                      field->text, APS_LAYER_DIMENSIONS);
        return;
    }
    for (int i = 0; i < layer->dimensions; i++)
        fits &= !__builtin_mul_overflow(product, layer->shape[i], &product);
    /* A count of 0 is an error of its own. */
    if (layer->count > 0 && (!fits || product != layer->count))
        aps_csv_error(csv, field->column,
                      "shape %.80s has another number of elements than the "
                      "count, %zu",
                      field->text, layer->count);
}

static void layers_read_scale(const struct aps_csv *csv,
                              const struct aps_csv_field *field,
                              struct aps_layer_row *layer)
{
    double scale;

    if (field->length == 0)
        return;
    scale = aps_real_parse(field->text);
    if (scale > 0 && scale <= FLT_MAX && (float)scale > 0)
        layer->scale = scale;
    else
        aps_csv_error(csv, field->column,
                      "scale '%.80s' is not a float above 0", field->text);
}

static void layers_read_first(struct reading *reading,
                              const struct aps_csv_field *field,
                              struct aps_layer_row *layer)
{
    uintmax_t place = 0;

    reading->has_first = true;
    if (aps_digits_parse(field->text, field->length, PTRDIFF_MAX, &place) < 0)
        aps_csv_error(&reading->csv, field->column,
                      "place '%.80s' in the first step is not a whole number",
                      field->text);
    layer->first = (size_t)place;
}

/* Begins a network if the line has another one than the line before. */
static void layers_read_network(struct reading *reading,
                                const struct aps_csv_field *field, size_t index)
{
    struct aps_csv *csv = &reading->csv;

    if (reading->has_first)
        aps_csv_error(csv, field->column,
                      "a table with a column 'network' has no column 'first'");
    if (!reading->network || strcmp(reading->network, field->text) != 0) {
        reading->network = field->text;
        reading->begin = index;
    }
    reading->table->list[index].begin = reading->begin;
}

static void layers_read_type(const struct aps_csv *csv,
                             const struct aps_csv_field *field,
                             struct aps_layer_row *layer)
{
    if (field->length == 0)
        return;
    layer->element = aps_element_find(field->text);
    if (layer->element == APS_ELEMENT_NONE)
        aps_csv_error(csv, field->column,
                      "type '%.80s' is not float, bf16, fp16 or double",
                      field->text);
}

/* The final policy, which is YAML, may have the name. */
static void layers_check_name(const struct aps_csv *csv,
                              const struct aps_csv_field *field)
{
    size_t length = 1;
    uint32_t character;

    for (const char *at = field->text; *at && length > 0; at += length) {
        length = aps_utf8_next(at, &character);
        if (length == 0)
            aps_csv_error(csv, field->column,
                          "the layer's name is not UTF-8 (byte 0x%02x); write "
                          "the table in UTF-8",
                          (unsigned char)*at);
    }
}

/* --- lines ---------------------------------------------------------------- */

/* Reads a line that has as many fields as the header, in the order of the
 * columns. */
static void layers_read_fields(struct reading *reading, size_t index)
{
    struct aps_csv *csv = &reading->csv;
    struct aps_layer_row *layer = &reading->table->list[index];
    const struct aps_csv_field *fields[COLUMNS + 1] = {NULL};

    for (int i = 0; i < csv->count; i++)
        fields[reading->meaning[i]] = &csv->fields[i];
    layers_check_index(csv, fields[LAYER], index);
    layer->count = layers_read_count(reading, fields[COUNT]);
    if (fields[SHAPE])
        layers_read_shape(csv, fields[SHAPE], layer);
    if (fields[SCALE])
        layers_read_scale(csv, fields[SCALE], layer);
    if (fields[FIRST])
        layers_read_first(reading, fields[FIRST], layer);
    if (fields[NETWORK])
        layers_read_network(reading, fields[NETWORK], index);
    if (fields[TYPE])
        layers_read_type(csv, fields[TYPE], layer);
    if (fields[NAME]->length == 0)
        aps_csv_error(csv, fields[NAME]->column, "the layer has no name");
    else
        layers_check_name(csv, fields[NAME]);
    reading->named[index].column = fields[NAME]->column;
    layer->name = fields[NAME]->text;
    reading->named[index].name = layer->name;
}

/* A bad line still counts as a layer, because otherwise all later indices would
 * be reported as out of order. The table is rejected in any case. */
static void layers_read_line(struct reading *reading, bool good)
{
    struct aps_csv *csv = &reading->csv;
    const size_t index = reading->table->count++;

    reading->named[index] = (struct named){"", csv->line, 0};
    if (!good)
        return;
    if (csv->count == reading->columns)
        layers_read_fields(reading, index);
    else
        aps_csv_error(
            csv,
            csv->count > reading->columns ? csv->fields[reading->columns].column
                                          : csv->past_end,
            "too %s fields: the first line names %d columns",
            csv->count > reading->columns ? "many" : "few", reading->columns);
}

static void layers_read_lines(struct reading *reading)
{
    struct aps_csv *csv = &reading->csv;
    int got = aps_csv_next(csv);

    if (got < 0 || (got > 0 && layers_read_header(reading) < 0))
        return;
    while ((got = aps_csv_next(csv)) != 0)
        layers_read_line(reading, got > 0);
    if (reading->table->count == 0)
        aps_errors_add(csv->errors, csv->path, 1, 1, "the table has no layers");
}

static int layers_by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static void layers_check_names(struct reading *reading)
{
    const struct aps_csv *csv = &reading->csv;
    const struct named *first = reading->named;
    size_t count = reading->table->count;

    if (count == 0)
        return;
    qsort(reading->named, count, sizeof *reading->named, layers_by_name);
    for (const struct named *at = first + 1; at < reading->named + count;
         at++) {
        if (strcmp(at->name, first->name) != 0)
            first = at;
        else if (at->name[0] != '\0')
            aps_errors_add(csv->errors, csv->path, at->line, at->column,
                           "duplicate layer name '%.80s', first in line %d",
                           at->name, first->line);
    }
}

/* Sets the ends of the networks. */
static void layers_end_networks(struct aps_layers *table)
{
    size_t end = table->count;

    for (size_t i = table->count; i-- > 0;) {
        table->list[i].end = end;
        if (table->list[i].begin == i)
            end = i;
    }
}

/* Orders the layers by their places in the first step, each of which one layer
 * must have. Returns -1 if memory is missing. */
static int layers_order_first(struct reading *reading)
{
    struct aps_layers *table = reading->table;
    const struct aps_csv *csv = &reading->csv;

    if (!reading->has_first)
        return 0;
    table->first = malloc(table->count * sizeof *table->first);
    if (!table->first)
        return -1;
    for (size_t i = 0; i < table->count; i++)
        table->first[i] = -1;
    for (size_t i = 0; i < table->count; i++) {
        const size_t place = table->list[i].first;

        if (place >= table->count)
            aps_errors_add(csv->errors, csv->path, reading->named[i].line, 0,
                           "place %zu in the first step: the table has %zu "
                           "layers, whose places begin with 0",
                           place, table->count);
        else if (table->first[place] >= 0)
            aps_errors_add(csv->errors, csv->path, reading->named[i].line, 0,
                           "layer %ld has place %zu in the first step, too",
                           table->first[place], place);
        else
            table->first[place] = (long)i;
    }
    return 0;
}

/* Returns an upper bound of the number of layers: lines that are not empty. */
static size_t layers_count_lines(const char *text, size_t length)
{
    size_t lines = 1;

    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n' && i > 0 && text[i - 1] != '\n';
    return lines;
}

int aps_layers_parse(const char *path, const char *text, size_t length,
                     struct aps_layers **layers, struct aps_errors *errors)
{
    struct reading reading = {.columns = 0};
    size_t lines = layers_count_lines(text, length);
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
    aps_csv_begin(&reading.csv, path, text, length, table->names, errors);
    layers_read_lines(&reading);
    layers_end_networks(table);
    if (layers_order_first(&reading) < 0)
        goto free_all;
    layers_check_names(&reading);
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
    free(layers->first);
    free(layers);
}
