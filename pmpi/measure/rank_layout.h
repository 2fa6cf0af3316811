/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the ranks of the job run: hosts with as many ranks each.
 */
#ifndef APS_PMPI_MEASURE_RANK_LAYOUT_H
#define APS_PMPI_MEASURE_RANK_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "message/vcomm.h"

struct aps_rank_layout {
    struct aps_vcomm vcomm; /* all ranks of the job */
    struct aps_vcomm local; /* those of this host */
    int hosts;
    int per_host;
    int host;      /* of this rank, from 0 */
    int *host_of;  /* [size], owned, as are: */
    int *local_of; /* [size]: the place in its host */
    int *ranks;    /* [hosts * per_host], host by host */
    int *nodes;    /* [size] */
    bool failed;   /* an agreement, on all ranks */
};

/* COLLECTIVE over comm, a communicator with MPI_ERRORS_RETURN that outlives the
 * site; `pretended` hosts, unless 0. 0, or -1 on all ranks with `cause`. */
int aps_rank_layout_find(MPI_Comm comm, int pretended,
                         struct aps_rank_layout *site, char *cause,
                         size_t size);
void aps_rank_layout_clear(struct aps_rank_layout *site);

/* The rank with our place so many hosts on, and that of our host so many places
 * on. */
int aps_rank_layout_host_on(const struct aps_rank_layout *site, int hosts);
int aps_rank_layout_place_on(const struct aps_rank_layout *site, int places);

/* COLLECTIVE: MAX over all ranks of a number that is 0 or more, as a float. They
 * wait as reductions do. Where MPI fails, on any rank, it is 1 on all of them, and so
 * is every later one: the ranks go on alike, and come to an end soon. */
double aps_rank_layout_max(struct aps_rank_layout *site, double value);

/* COLLECTIVE: 0 if `good` on all ranks and no agreement has failed, otherwise -1 on
 * all. */
int aps_rank_layout_agree(struct aps_rank_layout *site, bool good);

#endif
