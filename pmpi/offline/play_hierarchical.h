/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of reduce/hierarchical.c in host memory, played by one process. */
#ifndef APS_PMPI_OFFLINE_PLAY_HIERARCHICAL_H
#define APS_PMPI_OFFLINE_PLAY_HIERARCHICAL_H

#include "offline/play.h"

/* Plays `reduce: hierarchical`, like aps_play_direct. */
void aps_play_hierarchical(struct aps_play *play);

#endif
