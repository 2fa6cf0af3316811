/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of text, printed with aligned columns.
 */
#ifndef APS_COMMAND_COLUMNS_H
#define APS_COMMAND_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct aps_column {
    const char *title;
    bool right; /* flush right: numbers */
};

struct aps_columns;

/* `columns` has `count` entries and must outlive the object. */
struct aps_columns *aps_columns_create(const struct aps_column *columns,
                                       size_t count);
void aps_columns_destroy(struct aps_columns *columns);

/* Append a row; its cells are copied. A NULL cell lets the cell on its left
 * run over it. */
void aps_columns_add(struct aps_columns *columns, const char *const *cells);

/* Titles and rows, two blanks between columns. */
void aps_columns_print(const struct aps_columns *columns, FILE *stream);

#endif
