/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Software pipeline over the chunks of a buffer: while one chunk is sent, the
 * next is encoded and the previous one is decoded.
 *
 * In round r, stage s runs on chunk r minus the lags of the stages up to s. The
 * earliest stage runs first, so that a round sends new bytes before it waits
 * for old ones.
 *
 * A stage may wait for an earlier stage of the same chunk, or for any stage of
 * a chunk that is older by all lags and one more. Other ranks have run those in
 * an earlier round, so no deadlock occurs.
 */
#ifndef APS_PMPI_CUT_PIPELINE_H
#define APS_PMPI_CUT_PIPELINE_H

#include <stddef.h>

#include "wire/buffer_depth.h"

struct aps_pipeline_stage {
    /* Runs one stage of one chunk. A stage that fails notes the error in
     * `state`. Later stages then do only the work that other ranks wait for. */
    void (*run)(void *state, size_t chunk);
    size_t lag; /* rounds after the previous stage; 0 for the first */
};

void aps_pipeline_run(size_t chunks, size_t stages,
                      const struct aps_pipeline_stage stage[], void *state);

#endif
