/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layer table: a CSV file `layer,name,count`, one line a layer in forward
 * order, that gives the layers of a step their names and sizes.
 */
#ifndef APS_POLICY_LAYERS_H
#define APS_POLICY_LAYERS_H

#include <stddef.h>

#include "base/error.h"

struct aps_layer {
    const char *name; /* owned by the table */
    size_t count;     /* elements, > 0 */
};

struct aps_layers {
    size_t count;
    struct aps_layer *list;
    char *names; /* the storage behind the names */
};

/*
 * Parse a table: header line `layer,name,count` (required), indices 0, 1, 2 ...
 * in order, unique non-empty names (quoted as CSV where they hold a comma or a
 * quote), counts > 0; `#` lines and empty lines are passed over. Every error is
 * reported as file:line:col. 0 with *layers a new object, or -1.
 */
int aps_layers_parse(const char *path, const char *text, size_t length,
                     struct aps_layers **layers, struct aps_errors *errors);
void aps_layers_destroy(struct aps_layers *layers); /* NULL: nothing */

#endif
