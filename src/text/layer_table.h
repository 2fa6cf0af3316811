/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layer table: a CSV file with one line for each layer, in forward order,
 * that gives the names and sizes of the layers of a step.
 */
#ifndef APS_TEXT_LAYER_TABLE_H
#define APS_TEXT_LAYER_TABLE_H

#include <stddef.h>

#include "base/element.h"
#include "base/error.h"

#define APS_LAYER_DIMENSIONS 8 /* most sizes in a shape */

struct aps_layer_row {
    const char *name;                   /* owned by the table */
    size_t count;                       /* elements, > 0 */
    int dimensions;                     /* number in the shape; 0: not known */
    size_t shape[APS_LAYER_DIMENSIONS]; /* their product is `count` */
    double scale; /* standard deviation of the gradient at initialisation, a
                     finite float > 0; 0: not known */
    enum aps_element element; /* type of its elements */
    size_t first;      /* place in the first step; see struct aps_layers */
    size_t begin, end; /* rows of its network: from begin to end - 1 */
};

struct aps_layers {
    size_t count;
    struct aps_layer_row *list;
    char *names; /* storage of the names */
    long
        *first; /* [count]: layers in the order of the first step's calls; NULL:
                    all steps have one order */
};

/*
 * Parses a table. The first line names the columns, in any order:
 *
 *     layer    the indices 0, 1, 2 ... in order
 *     name     unique, not empty
 *     count    elements, above 0, in the syntax of aps_whole_parse
 *     shape    sizes above 0 with x between them, as in 64x3x7x7; their product
 *              is the count; may be empty or missing
 *     scale    a float above 0; may be empty or missing
 *     first    the place of the layer in the first step, 0, 1, 2 ... in any order;
 *              may be missing
 *     network  the network of the layer, whose rows follow each other; may be
 *              missing, with `first` it must be
 *     type     float (also if it is empty or missing), bf16, fp16 or double
 *     x-..., x_...  columns of the user; ignored
 *
 * Other columns are errors. Fields are quoted as in csv.h; `#` lines and empty
 * lines are skipped. Every error is reported as file:line:col. Returns 0 with
 * *layers a new object, or -1.
 */
int aps_layers_parse(const char *path, const char *text, size_t length,
                     struct aps_layers **layers, struct aps_errors *errors);
void aps_layers_destroy(struct aps_layers *layers); /* NULL: nothing */

#endif
