/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "pipeline.h"

/* Measured with tests/bench/allreduce.sh: at 1 Gbit/s 64 Ki to 1 Mi elements
 * are equal within the noise; below, messages cost more than their bytes; above,
 * filling and draining the pipeline shows in layers of 4 Mi. */
#define CHUNK ((size_t)256 * 1024)
#define CHUNK_LEAST ((size_t)4 * 1024)
#define UNIT 64 /* chunks meet at whole bytes of any width */

void aps_pipeline_run(size_t chunks, size_t stages, const aps_stage_fn stage[],
                      void *state)
{
    const size_t rounds = chunks + (stages - 1) * APS_PIPELINE_LAG;

    for (size_t round = 0; chunks > 0 && round < rounds; round++) {
        for (size_t s = 0; s < stages; s++) {
            const size_t behind = s * APS_PIPELINE_LAG;

            if (round >= behind && round - behind < chunks)
                stage[s](state, round - behind);
        }
    }
}

size_t aps_pipeline_chunk(int ranks)
{
    const size_t part = CHUNK / (size_t)ranks / UNIT * UNIT;

    return part > CHUNK_LEAST ? part : CHUNK_LEAST;
}
