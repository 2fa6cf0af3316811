/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of reduce/ring.h, played by one process, and the masters of
 * reduce/master.h, which form one. */
#ifndef APS_PMPI_OFFLINE_PLAY_RING_H
#define APS_PMPI_OFFLINE_PLAY_RING_H

#include "offline/play.h"

/* Play `reduce: ring` and `reduce: master`, like aps_play_direct. */
void aps_play_ring(struct aps_play *play);
void aps_play_master(struct aps_play *play);

#endif
