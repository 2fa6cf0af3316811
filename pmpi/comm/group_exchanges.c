/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/group_exchanges.h"

void aps_group_exchanges_clear(struct aps_group_exchanges *exchanges)
{
    aps_exchange_clear(&exchanges->group);
    aps_exchange_clear(&exchanges->peers);
    *exchanges = (struct aps_group_exchanges){0};
}

int aps_group_exchanges_equip(struct aps_group_exchanges *exchanges,
                              const struct aps_groups *groups, int *outcome,
                              bool *grown)
{
    if (exchanges->groups == groups)
        return 0;
    *grown = true;
    aps_group_exchanges_clear(exchanges);
    exchanges->groups = groups;
    if (aps_exchange_init(&exchanges->group, &groups->group,
                          APS_TAG_CONTRIBUTION, outcome) < 0)
        return -1;
    if (groups->peers.size == 0)
        return 0;
    return aps_exchange_init(&exchanges->peers, &groups->peers,
                             APS_TAG_CONTRIBUTION, outcome);
}
