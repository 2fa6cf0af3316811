/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of the job's ranks: hosts with an equal number of ranks each.
 */
#ifndef APS_PMPI_MEASURE_RANK_LAYOUT_H
#define APS_PMPI_MEASURE_RANK_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "message/vcomm.h"

struct aps_rank_layout {
    struct aps_vcomm vcomm; /* all ranks of the job */
    struct aps_vcomm local; /* ranks of this host */
    int hosts;
    int per_host;
    int host;      /* host of this rank, from 0 */
    int *host_of;  /* [size]: host of each rank; owned */
    int *local_of; /* [size]: place of each rank on its host; owned */
    int *ranks;    /* [hosts * per_host]: ranks, host by host; owned */
    int *nodes;    /* [size]: lowest rank on the same host; owned */
    bool failed;   /* an agreement has failed, on all ranks */
};

/* COLLECTIVE over comm, a communicator with MPI_ERRORS_RETURN that must outlive
 * the site. Finds the layout. Unless `pretended` is 0, the ranks pretend to run
 * on that number of hosts. Returns 0 on all ranks, or -1 on all ranks with
 * `cause`. */
int aps_rank_layout_find(MPI_Comm comm, int pretended,
                         struct aps_rank_layout *site, char *cause,
                         size_t size);
void aps_rank_layout_clear(struct aps_rank_layout *site);

/* Return the rank with this rank's place `hosts` hosts further on, and the rank
 * of this host `places` places further on. Both wrap. */
int aps_rank_layout_host_on(const struct aps_rank_layout *site, int hosts);
int aps_rank_layout_place_on(const struct aps_rank_layout *site, int places);

/* COLLECTIVE. Returns the maximum over all ranks of a number that is 0 or more,
 * as a float. Waits as reductions do. If MPI fails on any rank, the result is 1
 * on all ranks, and so is every later one. So all ranks continue in the same
 * way, and soon end. */
double aps_rank_layout_max(struct aps_rank_layout *site, double value);

/* COLLECTIVE. Returns 0 on all ranks if `good` is true on all ranks and no
 * agreement has failed, otherwise -1 on all ranks. */
int aps_rank_layout_agree(struct aps_rank_layout *site, bool good);

#endif
