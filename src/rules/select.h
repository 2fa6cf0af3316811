/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layers of a rule: `layers: 0-52, layer4.*, last` as ranges of indices.
 *
 * Names and patterns are looked up once, during parsing; resolving a layer
 * later is a search in sorted ranges.
 */
#ifndef APS_RULES_SELECT_H
#define APS_RULES_SELECT_H

#include <stdbool.h>

#include "text/layer_table.h"
#include "text/ranges.h"
#include "yaml/value.h"

/* Information about the layers of a step. */
struct aps_step_layers {
    const struct aps_layers *table; /* or NULL */
    bool blind; /* a table is named but could not be read (already reported):
                   names and bounds are not checked */
    long count; /* layers of a step, from the table or from steps: {calls: N};
                   0: not known */
};

struct aps_selection {
    struct aps_ranges indices;
    bool last; /* the last layer too, if the number of layers is not known
                  yet */
    bool all;  /* every layer; the other fields then have no meaning */
};

/*
 * Reads the value of the key `layers`: items are N, A-B, A-, `first` and `last`
 * (also as ends of a range), `all`, a name or a pattern. Returns 0, or -1 after
 * errors were reported; the caller clears selection->indices in both cases.
 */
int aps_select_read(const struct aps_reader *reader,
                    const struct aps_yaml_node *key,
                    const struct aps_step_layers *layers,
                    struct aps_selection *selection);

/* True if `layer` is selected, in a step of `layers` layers (0: not known). */
bool aps_selection_holds(const struct aps_selection *selection, long layer,
                         long layers);

#endif
