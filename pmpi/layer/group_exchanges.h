/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges inside a rank's group and with its peers in the other groups, for
 * all groups that the rules of a communicator use. They are kept from call to
 * call.
 */
#ifndef APS_PMPI_LAYER_GROUP_EXCHANGES_H
#define APS_PMPI_LAYER_GROUP_EXCHANGES_H

#include "cut/exchange.h"
#include "group/topology.h"

struct aps_group_exchanges {
    struct aps_group_exchanges *next; /* exchanges of other groups */
    const struct aps_groups *groups;  /* not owned */
    struct aps_exchange group;
    struct aps_exchange peers; /* zeros if the rank has no peers */
};

/* Local. Returns the exchanges of `groups` in the list *first, and adds them if
 * they are new. Returns NULL if memory is missing. *outcome is as in
 * messages.h. */
struct aps_group_exchanges *
aps_group_exchanges_equip(struct aps_group_exchanges **first,
                          const struct aps_groups *groups, int *outcome);

/* Local. Frees all exchanges of the list, and empties it. */
void aps_group_exchanges_clear(struct aps_group_exchanges **first);

#endif
