/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Software pipeline over the chunks of a buffer: while one chunk is on the
 * wire, the next is encoded and the one before is decoded.
 *
 * In round r, stage s runs on the chunk that is r minus the lags of the stages
 * up to s, the earliest stage first, so that new bytes are on their way before
 * the round waits for old ones. What a stage waits for, other ranks have done
 * in an earlier round, as long as it comes from an earlier stage of the same
 * chunk, or from any stage of a chunk that lies all lags and one more behind:
 * no deadlock.
 */
#ifndef APS_PMPI_CUT_PIPELINE_H
#define APS_PMPI_CUT_PIPELINE_H

#include <stddef.h>

#include "wire/buffer_depth.h"

struct aps_pipeline_stage {
    /* One stage of one chunk. A stage that fails notes that in `state`, and the
     * stages that follow do nothing but what other ranks wait for. */
    void (*run)(void *state, size_t chunk);
    size_t lag; /* rounds behind the stage before; 0 for the first */
};

void aps_pipeline_run(size_t chunks, size_t stages,
                      const struct aps_pipeline_stage stage[], void *state);

#endif
