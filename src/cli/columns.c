/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cli/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

#define GAP 2

struct row {
    struct row *next;
    char *cells[]; /* one for each column */
};

struct aps_columns {
    const struct aps_column *columns;
    size_t count;
    struct row *first;
    struct row **link; /* address of the link to the next row */
};

struct aps_columns *aps_columns_create(const struct aps_column *columns,
                                       size_t count)
{
    struct aps_columns *created = aps_command_alloc(1, sizeof *created);

    created->columns = columns;
    created->count = count;
    created->link = &created->first;
    return created;
}

void aps_columns_destroy(struct aps_columns *columns)
{
    struct row *next;

    if (!columns)
        return;
    for (struct row *row = columns->first; row; row = next) {
        next = row->next;
        for (size_t i = 0; i < columns->count; i++)
            free(row->cells[i]);
        free(row);
    }
    free(columns);
}

void aps_columns_add(struct aps_columns *columns, const char *const *cells)
{
    struct row *row = aps_command_alloc(
        1, sizeof *row + columns->count * sizeof row->cells[0]);

    for (size_t i = 0; i < columns->count; i++) {
        if (cells[i]) {
            row->cells[i] = aps_command_alloc(strlen(cells[i]) + 1, 1);
            strcpy(row->cells[i], cells[i]);
        }
    }
    *columns->link = row;
    columns->link = &row->next;
}

/* Returns the number of columns of the cell at `at`. */
static size_t extent(const struct aps_columns *columns, const struct row *row,
                     size_t at)
{
    size_t end = at + 1;

    while (end < columns->count && !row->cells[end])
        end++;
    return end - at;
}

/* Returns the width of `count` columns from `at` on, with the gaps between
 * them. */
static size_t width_of(const size_t *widths, size_t at, size_t count)
{
    size_t width = (count - 1) * GAP;

    for (size_t i = at; i < at + count; i++)
        width += widths[i];
    return width;
}

static size_t *measure(const struct aps_columns *columns)
{
    size_t *widths = aps_command_alloc(columns->count, sizeof *widths);

    for (size_t i = 0; i < columns->count; i++)
        widths[i] = strlen(columns->columns[i].title);
    /* Cells of one column come first; wider cells then add only the missing
     * width. */
    for (size_t wide = 0; wide < 2; wide++) {
        for (const struct row *row = columns->first; row; row = row->next) {
            size_t taken;

            for (size_t i = 0; i < columns->count; i += taken) {
                size_t needed = row->cells[i] ? strlen(row->cells[i]) : 0;
                size_t width;

                taken = extent(columns, row, i);
                width = width_of(widths, i, taken);
                if ((taken > 1) == (wide == 1) && needed > width)
                    widths[i + taken - 1] += needed - width;
            }
        }
    }
    return widths;
}

/* Prints text and padding; `owed` is the number of blanks due before the next
 * text, so that no line ends in blanks. */
static void print_cell(const char *text, size_t width, bool right, size_t *owed)
{
    size_t padding = width - strlen(text);

    if (right)
        *owed += padding;
    if (text[0] != '\0') {
        printf("%*s%s", (int)*owed, "", text);
        *owed = 0;
    }
    *owed += GAP + (right ? 0 : padding);
}

void aps_columns_print(const struct aps_columns *columns)
{
    size_t *widths = measure(columns);
    size_t owed = 0;

    for (size_t i = 0; i < columns->count; i++)
        print_cell(columns->columns[i].title, widths[i],
                   columns->columns[i].right, &owed);
    putchar('\n');
    for (const struct row *row = columns->first; row; row = row->next) {
        size_t taken;

        owed = 0;
        for (size_t i = 0; i < columns->count; i += taken) {
            taken = extent(columns, row, i);
            print_cell(row->cells[i] ? row->cells[i] : "",
                       width_of(widths, i, taken), columns->columns[i].right,
                       &owed);
        }
        putchar('\n');
    }
    free(widths);
}
