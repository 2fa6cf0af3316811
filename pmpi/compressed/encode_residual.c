/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compressed/encode_residual.h"

#include <stdbool.h>

#include "base/cpu.h"
#include "compress/feedback.h"
#include "block/tile.h"
#include "block/origin.h"

struct leaving {
    const struct aps_wire *wire;
    float *delta;
};

/* What was just encoded leaves delta, while it is in the caches. */
static void leaving_see(void *state, size_t begin, size_t n,
                        const unsigned char *values, struct aps_scaling scaling)
{
    const struct leaving *leaving = state;
    const struct aps_block_part part = {.values = values, .scaling = scaling};
    float *const delta = leaving->delta + begin;
    float sent[APS_BLOCK_PART];

    aps_block_part_decode(leaving->wire, &part, n, sent);
    aps_feedback_left(delta, sent, n, aps_cpu_chosen(), delta);
}

void aps_encode_residual(const struct aps_wire *wire, struct aps_block block,
                         float *delta, unsigned char *to, struct aps_cost *cost)
{
    const size_t most = aps_block_part_max(wire), n = block.n;
    struct leaving leaving = {wire, delta};
    const struct aps_block_watch watch = {most, leaving_see, &leaving};
    const bool whole = wire->codec.format.piece_bytes > 0;

    block.memory = &aps_memory_host;
    block.x = delta;
    block.watch = whole ? NULL : &watch;
    aps_cost_note(cost, aps_block_encode(wire, &block, to));
    for (size_t begin = 0; whole && begin < n; begin += most) {
        const size_t length = n - begin < most ? n - begin : most;
        struct aps_block_copy copy;
        const struct aps_block_part part =
            aps_block_part_of(wire, to, begin, length, &copy);

        leaving_see(&leaving, begin, length, part.values, part.scaling);
    }
}
