/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of discovery: the layers of a step, and the skeleton of a policy.
 */
#ifndef APS_STEPS_DISCOVERY_FILES_H
#define APS_STEPS_DISCOVERY_FILES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes PREFIX.yaml, PREFIX-layers.csv and PREFIX-layers-reversed.csv, or
 * PREFIX-1 and so on if one of them exists. `counts` are the layers of a step,
 * one at least, in the order of the calls; `fused`: the calls carry runs of
 * them. The first table is in the order of the network, if the calls have the
 * order that their sizes suggest (layer_order.h), and the second in the other
 * one. `said` gets the outcome, for people.
 */
void aps_discovery_write_layers(const size_t *counts, long layers, bool fused,
                                const char *prefix, char *said, size_t size);

#endif
