/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collects the formats that layers have got while the program runs (format:
 * {auto: ...}), for the communicators whose rank 0 is this process. The summary
 * uses them, and the policy that is written at the end.
 */
#ifndef APS_PMPI_SUMMARY_CHOSEN_FORMATS_H
#define APS_PMPI_SUMMARY_CHOSEN_FORMATS_H

#include <stddef.h>

#include "source/chosen.h"

struct aps_chosen_format {
    char comm[128];
    /* Generation of the communicator's steps; earlier ones are past. */
    long generation;
    struct aps_chosen_layer layer;
};

/* Thread-safe. Notes the result of a measurement. Does nothing if memory is
 * missing. */
void aps_chosen_formats_note(const struct aps_chosen_format *chosen);

/* Thread-safe. Copies the formats at the end of each communicator's calls,
 * sorted by rule, layer and count. If several communicators have a layer, the
 * list has the one that sends the most. The caller frees *list, which is NULL
 * if there are no formats. Returns 0, or -1 with an empty list if memory is
 * missing. */
int aps_chosen_formats_list(struct aps_chosen_layer **list, size_t *length);

#endif
