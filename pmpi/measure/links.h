/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures links under load: all ranks send and receive at the same time, as in
 * a reduction.
 */
#ifndef APS_PMPI_MEASURE_LINKS_H
#define APS_PMPI_MEASURE_LINKS_H

#include <stdbool.h>

#include "measure/batches.h"
#include "measure/rank_layout.h"
#include "predict/machine.h"

/* COLLECTIVE over the site, which has several hosts if `between`, and several
 * ranks on a host otherwise. `crowd` ranks share a core
 * (aps_clocked_oversubscription). Notes the spread of repetitions. Returns 0,
 * or -1 on all ranks if MPI fails or memory is missing. */
int aps_links_measure(struct aps_rank_layout *site, bool between, double crowd,
                      struct aps_link *link, struct aps_spread *spread);

/* COLLECTIVE over the site. Sets *mark to the seconds from a rank's mark in
 * shared memory until each rank of its host has made its mark and has seen all
 * marks. Returns 0, or -1 on all ranks with the same `cause`: a host has no
 * shared memory, or MPI has failed ("": no rank knows more). */
int aps_links_mark(struct aps_rank_layout *site, double *mark, char *cause,
                   size_t size);

#endif
