/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures native all-reduces of FP32, and finds the latency and rate that
 * explain their times.
 */
#ifndef APS_PMPI_MEASURE_NATIVES_H
#define APS_PMPI_MEASURE_NATIVES_H

#include <stdbool.h>

#include "measure/batches.h"
#include "measure/rank_layout.h"
#include "predict/machine.h"

/*
 * COLLECTIVE over the site. Sets link->wait and link->bulk to the values with
 * which the model of predict/native.h comes nearest to measured all-reduces of
 * several lengths. The all-reduces run between hosts (ranks with the same
 * place, all places at the same time), or inside them. `machine` must have
 * `copy` and `add`. Notes the spread of repetitions. Returns 0, or -1 on all
 * ranks if MPI fails or memory is missing.
 */
int aps_natives_measure(struct aps_rank_layout *site, bool between,
                        const struct aps_machine *machine,
                        struct aps_link *link, struct aps_spread *spread);

#endif
