/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of text, printed with aligned columns.
 */
#ifndef APS_COMMAND_COLUMNS_H
#define APS_COMMAND_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

struct aps_column {
    const char *title;
    bool right; /* right-aligned: numbers */
};

struct aps_columns;

/* `columns` has `count` entries and must outlive the object. */
struct aps_columns *aps_columns_create(const struct aps_column *columns,
                                       size_t count);
void aps_columns_destroy(struct aps_columns *columns);

/* Appends a row, and copies its cells. A cell extends over NULL cells on its
 * right. */
void aps_columns_add(struct aps_columns *columns, const char *const *cells);

/* Prints titles and rows, with two blanks between columns. */
void aps_columns_print(const struct aps_columns *columns);

#endif
