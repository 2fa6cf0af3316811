/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of something that all ranks do together.
 */
#ifndef APS_PMPI_MEASURE_BATCHES_H
#define APS_PMPI_MEASURE_BATCHES_H

#include <stddef.h>

#include "measure/rank_layout.h"

/* How far repetitions disagree: of five the second greatest less the second least,
 * divided by the median. */
struct aps_spread {
    double greatest;  /* of all that was measured */
    const char *what; /* has it: "latency between hosts" */
};

struct aps_batches {
    struct aps_rank_layout *site;
    const char *what; /* is measured, for its spread */
    struct aps_spread *spread;
    double seconds;  /* that a batch takes, about */
    int least, most; /* times in a batch */
    void (*run)(void *state, int times);
    void *state;
};

/* COLLECTIVE over the site's ranks. Seconds of one time, the slowest rank's, the
 * median of five batches, which are as long on all ranks. One goes before them, since
 * it connects. Notes their spread, which is the same on all ranks. */
double aps_batches_median(const struct aps_batches *batches);

/* Local. The median of values[n], n odd, which it sorts. */
double aps_batches_middle(double *values, size_t n);

#endif
