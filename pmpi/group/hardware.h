/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hardware of this node, from hwloc, which the library opens at run time: a
 * container without hwloc loses groups by package, NUMA node and cache alone.
 */
#ifndef APS_PMPI_GROUP_HARDWARE_H
#define APS_PMPI_GROUP_HARDWARE_H

#include <stddef.h>

#include "policy/policy.h"

/*
 * Local. Returns the index of the object of `kind` (package, NUMA node or L3
 * cache) inside which this rank is bound, or -1 with the `cause` (`size`
 * bytes). On a topology of HWLOC_SYNTHETIC or HWLOC_XMLFILE, rank `node_rank`
 * of the node is on the core of that index.
 */
int aps_hardware_colour(enum aps_group_kind kind, int node_rank, char *cause,
                        size_t size);

#endif
