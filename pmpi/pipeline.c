/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "pipeline.h"

/*
 * How the sizes were found: tests/bench/allreduce.sh lab, two hosts at 1 Gbit/s,
 * MPICH over UCX over TCP. Messages of 16 and of 32 KiB carry 0.94-0.95 of the
 * wire's rate in all formats, of 64 KiB 0.74-0.95, of 128 KiB and more 0.55-0.75:
 * UCX asks the receiver before it sends those, and a round trip each is lost.
 * Inside a node (tests/bench/allreduce.sh node) chunks of 32 Ki to 128 Ki
 * elements are equal within the noise.
 */
#define CHUNK_BYTES ((size_t)1024 * 1024)
#define PIECE_LEAST ((size_t)1024)
#define UNIT 64 /* pieces meet at whole bytes of any width */

void aps_pipeline_run(size_t chunks, size_t stages,
                      const struct aps_stage stage[], void *state)
{
    size_t rounds = chunks;

    for (size_t s = 0; s < stages; s++)
        rounds += stage[s].lag;
    for (size_t round = 0; chunks > 0 && round < rounds; round++) {
        size_t behind = 0;

        for (size_t s = 0; s < stages; s++) {
            behind += stage[s].lag;
            if (round >= behind && round - behind < chunks)
                stage[s].run(state, round - behind);
        }
    }
}

static size_t elements_of(size_t bytes, int width)
{
    return bytes * 8 / (size_t)width / UNIT * UNIT;
}

size_t aps_pipeline_piece(int width)
{
    return elements_of(APS_PIPELINE_PIECE_BYTES, width);
}

size_t aps_pipeline_share(int width, int ranks)
{
    size_t bytes = CHUNK_BYTES / (size_t)ranks;

    if (bytes < PIECE_LEAST)
        bytes = PIECE_LEAST;
    if (bytes > APS_PIPELINE_PIECE_BYTES)
        bytes = APS_PIPELINE_PIECE_BYTES;
    return elements_of(bytes, width);
}
