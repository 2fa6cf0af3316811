/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges inside a rank's group and with its peers in the other groups, kept from
 * call to call: of all groups that rules of a communicator go by. */
#ifndef APS_PMPI_COMM_GROUP_EXCHANGES_H
#define APS_PMPI_COMM_GROUP_EXCHANGES_H

#include "cut/exchange.h"
#include "group/topology.h"

struct aps_group_exchanges {
    struct aps_group_exchanges *next; /* of other groups */
    const struct aps_groups *groups;  /* not owned */
    struct aps_exchange group;
    struct aps_exchange peers; /* zeros where the rank has none */
};

/* Local. Returns the exchanges of `groups` in the list *first, which they join if
 * they are new, or NULL: out of memory. *outcome is as in messages.h. */
struct aps_group_exchanges *
aps_group_exchanges_equip(struct aps_group_exchanges **first,
                          const struct aps_groups *groups, int *outcome);

/* All of the list, which is empty then. */
void aps_group_exchanges_clear(struct aps_group_exchanges **first);

#endif
