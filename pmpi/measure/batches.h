/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the time of an operation that all ranks do together.
 */
#ifndef APS_PMPI_MEASURE_BATCHES_H
#define APS_PMPI_MEASURE_BATCHES_H

#include <stddef.h>

#include "measure/rank_layout.h"

/* Disagreement of repetitions: of five, the second greatest less the second
 * least, divided by the median. */
struct aps_spread {
    double greatest; /* greatest of all measurements */
    /* name of the measurement that has it: "latency between hosts" */
    const char *what;
};

struct aps_batches {
    struct aps_rank_layout *site;
    const char *what; /* name of the measurement, for its spread */
    struct aps_spread *spread;
    double seconds;  /* approximate length of a batch */
    int least, most; /* number of repetitions in a batch */
    void (*run)(void *state, int times);
    void *state;
};

/* COLLECTIVE over the site's ranks. Returns the seconds of one repetition on
 * the slowest rank: the median of five batches, whose length is equal on all
 * ranks. A batch before them is not counted, since it connects the ranks. Notes
 * their spread, which is equal on all ranks. */
double aps_batches_median(const struct aps_batches *batches);

/* Local. Sorts values[n], n odd, and returns their median. */
double aps_batches_middle(double *values, size_t n);

#endif
