/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layer table: a CSV file, one line a layer in forward order, that gives the
 * layers of a step their names and sizes.
 */
#ifndef APS_TEXT_LAYER_TABLE_H
#define APS_TEXT_LAYER_TABLE_H

#include <stddef.h>

#include "base/error.h"

#define APS_LAYER_DIMENSIONS 8 /* of a shape, at most */

struct aps_layer_row {
    const char *name;                   /* owned by the table */
    size_t count;                       /* elements, > 0 */
    int dimensions;                     /* of the shape; 0: not known */
    size_t shape[APS_LAYER_DIMENSIONS]; /* their product is `count` */
    double scale; /* standard deviation of the gradient at initialisation, a
                     finite float > 0; 0: not known */
};

struct aps_layers {
    size_t count;
    struct aps_layer_row *list;
    char *names; /* the storage behind the names */
};

/*
 * Parse a table. The first line names the columns, in any order:
 *
 *     layer    the indices 0, 1, 2 ... in order
 *     name     unique, not empty
 *     count    elements, above 0, as aps_whole_parse reads them
 *     shape    sizes above 0 with x between them, as in 64x3x7x7; their product
 *              is the count; may be empty or missing
 *     scale    a float above 0; may be empty or missing
 *     x-..., x_...  of the user; ignored
 *
 * Other columns are errors. Fields are quoted as csv.h has it; `#` lines and
 * empty lines are passed over. Every error is reported as file:line:col. 0 with
 * *layers a new object, or -1.
 */
int aps_layers_parse(const char *path, const char *text, size_t length,
                     struct aps_layers **layers, struct aps_errors *errors);
void aps_layers_destroy(struct aps_layers *layers); /* NULL: nothing */

#endif
