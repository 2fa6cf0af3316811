/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cut/pipeline.h"

#include "message/wait.h"

void aps_pipeline_run(size_t chunks, size_t stages,
                      const struct aps_pipeline_stage stage[], void *state)
{
    size_t rounds = chunks, longest = 0;
    long begin = 0;

    for (size_t s = 0; s < stages; s++) {
        rounds += stage[s].lag;
        if (stage[s].lag > longest)
            longest = stage[s].lag;
    }
    for (size_t round = 0; chunks > 0 && round < rounds; round++) {
        size_t behind = 0;

        aps_wait_begin_round(&begin, round, longest);
        for (size_t s = 0; s < stages; s++) {
            behind += stage[s].lag;
            if (round >= behind && round - behind < chunks)
                stage[s].run(state, round - behind);
        }
    }
    aps_wait_end_rounds();
}
