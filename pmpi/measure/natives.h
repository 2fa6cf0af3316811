/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Native all-reduces of FP32, and the latency and rate that they stand for.
 */
#ifndef APS_PMPI_MEASURE_NATIVES_H
#define APS_PMPI_MEASURE_NATIVES_H

#include <stdbool.h>

#include "measure/batches.h"
#include "measure/rank_layout.h"
#include "predict/machine.h"

/*
 * COLLECTIVE over the site: link->wait and link->bulk, with which the model of
 * predict/native.h comes nearest to all-reduces of some lengths: between hosts
 * (ranks with the same place, all places at the same time), or inside them.
 * `machine` has `copy` and `add`. Notes how far repetitions disagree. 0, or -1 on
 * all ranks: MPI or memory fails.
 */
int aps_natives_measure(struct aps_rank_layout *site, bool between,
                        const struct aps_machine *machine,
                        struct aps_link *link, struct aps_spread *spread);

#endif
