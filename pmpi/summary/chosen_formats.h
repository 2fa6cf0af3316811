/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formats that layers have got while the program runs (format: {auto: ...}), of the
 * communicators whose rank 0 is this process: for the summary, and for the policy that
 * is written at the end.
 */
#ifndef APS_PMPI_SUMMARY_CHOSEN_FORMATS_H
#define APS_PMPI_SUMMARY_CHOSEN_FORMATS_H

#include <stddef.h>

#include "source/chosen.h"

struct aps_chosen_format {
    char comm[128];
    long
        generation; /* of the communicator's steps: those of earlier ones are past */
    struct aps_chosen_layer layer;
};

/* Thread-safe. What a measurement has led to; nothing happens where memory is short. */
void aps_chosen_formats_note(const struct aps_chosen_format *chosen);

/* Thread-safe. Copies of what holds at the end of each communicator's calls, sorted by
 * rule, layer and count; of a layer that several communicators have, the one that
 * sends the most. The caller frees *list, which is NULL where there is none. 0, or -1:
 * no memory, and none in the list. */
int aps_chosen_formats_list(struct aps_chosen_layer **list, size_t *length);

#endif
