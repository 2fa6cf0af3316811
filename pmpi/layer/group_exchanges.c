/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "layer/group_exchanges.h"

#include <stdlib.h>

static void group_exchanges_destroy(struct aps_group_exchanges *exchanges)
{
    aps_exchange_clear(&exchanges->group);
    aps_exchange_clear(&exchanges->peers);
    free(exchanges);
}

void aps_group_exchanges_clear(struct aps_group_exchanges **first)
{
    while (*first) {
        struct aps_group_exchanges *exchanges = *first;

        *first = exchanges->next;
        group_exchanges_destroy(exchanges);
    }
}

/* Returns 0, or -1 if memory is missing. */
static int group_exchanges_init(struct aps_group_exchanges *exchanges,
                                const struct aps_groups *groups, int *outcome)
{
    exchanges->groups = groups;
    if (aps_exchange_init(&exchanges->group, &groups->group,
                          APS_TAG_CONTRIBUTION, outcome) < 0)
        return -1;
    if (groups->peers.size == 0)
        return 0;
    return aps_exchange_init(&exchanges->peers, &groups->peers,
                             APS_TAG_CONTRIBUTION, outcome);
}

struct aps_group_exchanges *
aps_group_exchanges_equip(struct aps_group_exchanges **first,
                          const struct aps_groups *groups, int *outcome)
{
    struct aps_group_exchanges *exchanges = *first;

    while (exchanges && exchanges->groups != groups)
        exchanges = exchanges->next;
    if (exchanges)
        return exchanges;
    exchanges = calloc(1, sizeof *exchanges);
    if (!exchanges)
        return NULL;
    if (group_exchanges_init(exchanges, groups, outcome) < 0) {
        group_exchanges_destroy(exchanges);
        return NULL;
    }
    exchanges->next = *first;
    *first = exchanges;
    return exchanges;
}
