/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of discovery: the layers of a step, and the skeleton of a policy.
 */
#ifndef APS_STEPS_DISCOVERY_FILES_H
#define APS_STEPS_DISCOVERY_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Kind of step that discovery found. */
enum aps_found_kind {
    APS_FOUND_CALLS, /* a step whose calls come in one order */
    APS_FOUND_FUSED, /* calls that carry runs of layers */
    APS_FOUND_ANY    /* a step whose calls come in any order */
};

/*
 * Writes PREFIX.yaml and PREFIX-layers.csv, or PREFIX-1 and so on if one of them
 * exists. `counts` are the layers of a step, one at least, in the order of the
 * calls; if they come in any order, the largest first. Unless they do, the table
 * is in the order of the network, if the calls have the order that their sizes
 * suggest (layer_order.h), and PREFIX-layers-reversed.csv has the other one.
 * `said` gets the outcome, for people.
 */
void aps_discovery_write_layers(const size_t *counts, long layers,
                                enum aps_found_kind kind, const char *prefix,
                                char *said, size_t size);

#endif
