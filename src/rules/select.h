/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which layers a rule speaks of: `layers: 0-52, layer4.*, last` as ranges of
 * layer indices. Names and patterns are looked up here, once, so that resolving
 * a layer later is a search in sorted ranges.
 */
#ifndef APS_RULES_SELECT_H
#define APS_RULES_SELECT_H

#include <stdbool.h>

#include "text/layer_table.h"
#include "text/ranges.h"
#include "yaml/value.h"

/* What is known about the layers of a step. */
struct aps_step_layers {
    const struct aps_layers *table; /* or NULL */
    bool blind; /* a table is named but could not be had (reported already):
                   names and bounds are not checked */
    long count; /* of a step, from the table or from steps: {calls: N}; 0: not
                   known */
};

struct aps_selection {
    struct aps_ranges indices;
    bool last; /* the last layer too, where their number is not known yet */
    bool all;  /* every layer: the rest has no meaning then */
};

/*
 * Read the value of the key `layers`: items are N, A-B, A-, `first` and `last`
 * (also as ends of a range), `all`, a name or a pattern. 0 or -1 with errors reported;
 * the caller clears selection->indices in either case.
 */
int aps_select_read(const struct aps_reader *reader,
                    const struct aps_yaml_node *key,
                    const struct aps_step_layers *layers,
                    struct aps_selection *selection);

/* Is `layer` of a step of `layers` (0: not known) layers selected? */
bool aps_selection_holds(const struct aps_selection *selection, long layer,
                         long layers);

#endif
