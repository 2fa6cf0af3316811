/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of discovery: the layers of a step, and the skeleton of a policy.
 */
#ifndef APS_STEPS_DISCOVERY_FILES_H
#define APS_STEPS_DISCOVERY_FILES_H

#include <stddef.h>

#include "base/element.h"
#include "steps/turns.h"

/* Layers that discovery found. */
struct aps_found {
    enum aps_found_kind {
        APS_FOUND_CALLS, /* a step whose calls come in one order */
        APS_FOUND_FUSED, /* calls that carry runs of layers */
        APS_FOUND_ANY,   /* a step whose calls come in any order */
        APS_FOUND_TURNS  /* steps of several networks alternately */
    } kind;
    unsigned types; /* types of the elements: 1 << enum aps_element each */
    const size_t
        *counts;  /* in the order of the calls; in any order: the largest
                             first */
    long layers;  /* one at least */
    int networks; /* alternately: their number, and the end of each */
    long ends[APS_TURNS_NETWORKS];
};

/*
 * Writes PREFIX.yaml and PREFIX-layers.csv, or PREFIX-1 and so on if one of them
 * exists. If there is a single network, and its calls come in one order, the table
 * has the order of the network, if the calls have the order that their sizes suggest
 * (layer_order.h), and PREFIX-layers-reversed.csv has the other one. `said` gets the
 * outcome, for people.
 */
void aps_discovery_write_layers(const struct aps_found *layers,
                                const char *prefix, char *said, size_t size);

#endif
