/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/hierarchical_early.h"

#include <limits.h>

#include "base/cache.h"
#include "base/least.h"
#include "progress/agree.h"
#include "reduce/guess.h"
#include "reduce/hierarchical_handoff.h"
#include "reduce/hierarchical_places.h"

/* A rank's slot, at most: a byte each of the values of a fusion buffer of 128 MiB. The
 * slots of all ranks take no more than this share of what shared memory is left, which
 * containers have little of and others need, too. */
#define SLOT_MOST ((size_t)32 * 1024 * 1024)
#define SHARE 4

/* What ranks agree on are numbers of these. */
#define UNIT ((size_t)1024)

static int early_units(size_t bytes)
{
    return (int)aps_least(bytes / UNIT, INT_MAX);
}

void aps_early_init(struct aps_early *early, const struct aps_vcomm *group)
{
    int units = early_units(aps_cache_early());

    *early = (struct aps_early){.least = SIZE_MAX, .refused = SIZE_MAX};
    if (aps_agree_max_together(group, 1, &units) == MPI_SUCCESS &&
        units < INT_MAX)
        early->least = (size_t)units * UNIT;
}

void aps_early_clear(struct aps_early *early)
{
    aps_shm_group_destroy(early->node);
}

int aps_early_begin(struct aps_hierarchical_run *run)
{
    struct aps_early *early = &run->h->early;
    const struct aps_cut *cut = &run->cut;
    size_t stride, bytes;

    if (cut->count != 1 || run->slots != &run->h->host ||
        !aps_hierarchical_is_alone(run->h) ||
        cut->vectors[0].n * sizeof(float) < early->least)
        return 0;
    stride = aps_block_stride(
        &run->inside,
        aps_slice_longest(cut->length, aps_codec_granule(&run->inside.codec),
                          cut->parts));
    bytes = aps_cut_chunks(cut) * (size_t)cut->parts * stride;
    if (bytes <= early->bytes) {
        run->early_stride = stride;
        return 0;
    }
    return bytes <= SLOT_MOST && bytes < early->refused
               ? early_units(bytes + UNIT - 1)
               : 0;
}

/* An owner's slice of a chunk. False: not with this codec. */
static bool early_encode_slice(struct aps_hierarchical_run *run, size_t k,
                               const struct aps_piece *piece, int owner,
                               struct aps_magnitude *magnitude)
{
    struct aps_handoff *handoff = &run->h->handoff;
    const int rank = aps_shm_group_rank(run->h->node);
    const struct aps_slice slice =
        aps_piece_slice(piece, run->h->owners, owner);
    unsigned char *const to = aps_stage_slot_slice(run, k, rank, owner);
    struct aps_magnitude found;

    if (slice.length == 0)
        return true;
    if (!aps_block_encode_search(
            &run->inside, piece->in + slice.begin, slice.length,
            piece->exponent,
            owner != rank ? aps_handoff_make(handoff, owner, to) : to, &found))
        return false;
    if (owner != rank)
        aps_stage_pass(run, owner, to, slice.length);
    if (found.max > magnitude->max)
        magnitude->max = found.max;
    magnitude->finite &= found.finite;
    return true;
}

/* From the last value to the first: what the first owner reads first was written
 * last. */
static bool early_encode_vector(struct aps_hierarchical_run *run,
                                const struct aps_stage_scale *guess,
                                struct aps_magnitude *magnitude)
{
    struct aps_cut cut = run->cut;

    cut.scales = guess;
    *magnitude = (struct aps_magnitude){0, true};
    for (size_t k = aps_cut_chunks(&cut); k-- > 0;) {
        struct aps_chunk *chunk = aps_stage_chunk(run, k);

        cut.vector = 0;
        cut.begin = k * cut.length;
        aps_cut_next(&cut, chunk);
        aps_stage_measure_handoff(run, k);
        for (int owner = run->h->owners; owner-- > 0;)
            if (!early_encode_slice(run, k, &chunk->pieces[0], owner,
                                    magnitude))
                return false;
    }
    return true;
}

bool aps_early_encode(struct aps_hierarchical_run *run,
                      struct aps_stage_scale *scale)
{
    const struct aps_vector *vector = &run->cut.vectors[0];
    struct aps_stage_scale guess = {0};
    float greatest[2];

    if (run->early_stride == 0 || vector->measured ||
        vector->memory != &aps_memory_host ||
        !aps_guess_recall(APS_GUESS_EXPONENT, vector->in, greatest) ||
        greatest[0] != greatest[1])
        return false;
    guess.exponent = aps_exponent_of_stage(&run->inside, (int)greatest[0]);
    if (!early_encode_vector(run, &guess, &scale->magnitude))
        return false;
    run->contributed = true;
    run->guess = guess.exponent;
    return true;
}

void aps_early_settle(struct aps_hierarchical_run *run,
                      const struct aps_stage_scale *scale, int greatest)
{
    struct aps_scaling scaling;

    if (run->early_stride == 0)
        return;
    aps_guess_note(APS_GUESS_EXPONENT, run->cut.vectors[0].in, (float)greatest);
    (void)aps_block_choose_scaling(&run->inside, scale->magnitude,
                                   scale->exponent, &scaling);
    run->contributed &= scale->exponent == run->guess && scaling.bounded;
}

void aps_early_count(const struct aps_hierarchical_run *run,
                     const struct aps_piece *piece, struct aps_slice slice,
                     int owner)
{
    struct aps_cost *cost = run->cost;

    aps_cost_note(cost, piece->exponent);
    if (owner == aps_shm_group_rank(run->h->node))
        return;
    aps_cost_add(cost, &run->inside, slice.length, 1);
    cost->early_bytes += aps_block_bytes(&run->inside, slice.length);
}

void aps_early_make_room(struct aps_hierarchical *h, int wanted)
{
    const size_t bytes = (size_t)wanted * UNIT;
    struct aps_early *early = &h->early;
    const struct aps_vcomm *group = &h->groups.group;
    struct aps_shm_group *node;
    char cause[256];

    if (bytes <= early->bytes)
        return;
    if (!aps_agree_all(group, aps_shm_group_free_bytes() / SHARE / bytes >=
                                  (size_t)group->size) ||
        aps_shm_group_create(group, bytes, 0, &node, cause, sizeof cause) < 0) {
        early->refused = bytes;
        return;
    }
    aps_shm_group_destroy(early->node);
    early->node = node;
    early->bytes = bytes;
}
