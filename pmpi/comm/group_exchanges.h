/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges inside a rank's group and with its peers in the other groups, kept from
 * call to call. */
#ifndef APS_PMPI_COMM_GROUP_EXCHANGES_H
#define APS_PMPI_COMM_GROUP_EXCHANGES_H

#include <stdbool.h>

#include "reduce/exchange.h"
#include "topo/topology.h"

/* Zeros: none yet. */
struct aps_group_exchanges {
    const struct aps_groups *groups; /* not owned */
    struct aps_exchange group;
    struct aps_exchange peers; /* zeros where the rank has none */
};

/* Local. Make them for `groups`, unless they are for these already; *grown is set if
 * they are made. *outcome is as in messages.h. 0, or -1: out of memory. */
int aps_group_exchanges_equip(struct aps_group_exchanges *exchanges,
                              const struct aps_groups *groups, int *outcome,
                              bool *grown);

void aps_group_exchanges_clear(struct aps_group_exchanges *exchanges);

#endif
