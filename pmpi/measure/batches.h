/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of something that all ranks do together.
 */
#ifndef APS_PMPI_MEASURE_BATCHES_H
#define APS_PMPI_MEASURE_BATCHES_H

#include <stddef.h>

#include "measure/site.h"

struct aps_batches {
    const struct aps_site *site;
    double seconds;  /* that a batch takes, about */
    int least, most; /* times in a batch */
    void (*run)(void *state, int times);
    void *state;
};

/* COLLECTIVE over the site's ranks. Seconds of one time, the slowest rank's, the
 * median of some batches, which are as long on all ranks. One goes before them, since
 * it connects. */
double aps_batches_median(const struct aps_batches *batches);

/* Local. The median of values[n], n odd, which it sorts. */
double aps_batches_middle(double *values, size_t n);

#endif
