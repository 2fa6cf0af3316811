/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/pipeline.h"

#include "progress/wait.h"

/*
 * How the sizes were found: tests/bench/allreduce.sh lab, two hosts at 1
 * Gbit/s, 4 Mi and 25.6 Mi floats, MPICH over UCX over TCP. Share of the wire's
 * rate, by the length of a message: 16 KiB 0.95, 32 KiB 0.87-0.94, 64 KiB
 * 0.74-0.95, 128 KiB and more 0.55-0.75, as UCX asks the receiver before it
 * sends long ones, and a round trip each is lost. By the lag, with 1 ms of
 * delay: 4 rounds 0.88, 8 and 16 rounds 0.93; without delay all the same.
 */
#define CHUNK_BYTES ((size_t)512 * 1024)
#define MESSAGE_MOST ((size_t)16 * 1024)
#define MESSAGE_LEAST ((size_t)1024)

/* A kernel and the wait for it take some 10 us, in which 16 KiB are a tenth of
 * what a fast network carries. Reckoned, not measured. */
#define DEVICE_CHUNK_BYTES ((size_t)1024 * 1024)
#define DEVICE_MESSAGE_MOST ((size_t)128 * 1024)

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

static size_t pipeline_message_bytes(size_t chunk, int ranks, size_t most)
{
    const size_t bytes = chunk / (size_t)ranks;

    if (bytes < MESSAGE_LEAST)
        return MESSAGE_LEAST;
    return bytes < most ? bytes : most;
}

size_t aps_pipeline_bytes(int ranks)
{
    return pipeline_message_bytes(CHUNK_BYTES, ranks, MESSAGE_MOST);
}

size_t aps_pipeline_bytes_of_devices(int ranks)
{
    return pipeline_message_bytes(DEVICE_CHUNK_BYTES, ranks,
                                  DEVICE_MESSAGE_MOST);
}

size_t aps_pipeline_elements(const struct aps_codec *codec, int ranks)
{
    return aps_codec_elements(codec, aps_pipeline_bytes(ranks));
}

size_t aps_pipeline_elements_most(int ranks)
{
    return aps_codec_elements_most(aps_pipeline_bytes(ranks));
}
