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
                               const struct aps_piece *piece,
                               struct aps_slice slice, int owner,
                               struct aps_magnitude *found)
{
    const int rank = aps_shm_group_rank(run->h->node);
    unsigned char *const to = aps_stage_slot_slice(run, k, rank, owner);
    unsigned char *const made =
        owner != rank ? aps_handoff_make(&run->h->handoff, owner, to) : to;

    if (!aps_block_encode_search(&run->inside, piece->in + slice.begin,
                                 slice.length, piece->exponent, made, found))
        return false;
    if (owner != rank)
        aps_stage_pass(run, owner, to, slice.length);
    return true;
}

static void early_merge(struct aps_magnitude *magnitude,
                        struct aps_magnitude more)
{
    if (more.max > magnitude->max)
        magnitude->max = more.max;
    magnitude->finite &= more.finite;
}

/* From the last value to the first: what the owners read first was written last.
 * Returns how many of the first values are left, of which nothing is known, as soon as
 * others show that `greatest` is not what ranks will agree on. */
static size_t early_encode_values(struct aps_hierarchical_run *run,
                                  const struct aps_stage_scale *guess,
                                  int greatest, struct aps_magnitude *magnitude)
{
    const int ranks = aps_shm_group_size(run->h->node);
    struct aps_cut cut = run->cut;

    cut.scales = guess;
    for (size_t k = aps_cut_chunks(&cut); k-- > 0;) {
        struct aps_chunk *chunk = aps_stage_chunk(run, k);
        const struct aps_piece *piece = &chunk->pieces[0];

        cut.vector = 0;
        cut.begin = k * cut.length;
        aps_cut_next(&cut, chunk);
        aps_stage_measure_handoff(run, k);
        for (int owner = run->h->owners; owner-- > 0;) {
            const struct aps_slice slice =
                aps_piece_slice(piece, run->h->owners, owner);
            const size_t begin = piece->begin + slice.begin;
            struct aps_magnitude found;

            if (slice.length == 0)
                continue;
            if (!early_encode_slice(run, k, piece, slice, owner, &found))
                return begin + slice.length;
            early_merge(magnitude, found);
            if (aps_scale_max_exponent(magnitude->max, ranks) > greatest &&
                begin > 0)
                return begin;
        }
    }
    return 0;
}

bool aps_early_encode(struct aps_hierarchical_run *run,
                      struct aps_stage_scale *scale)
{
    const struct aps_vector *vector = &run->cut.vectors[0];
    struct aps_stage_scale guess = {0};
    int greatest;
    size_t left;

    if (run->early_stride == 0 || vector->measured ||
        vector->memory != &aps_memory_host ||
        !aps_guess_recall_exponent(vector->in, &greatest))
        return false;
    guess.exponent = aps_exponent_of_stage(&run->inside, greatest);
    scale->magnitude = (struct aps_magnitude){0, true};
    left = early_encode_values(run, &guess, greatest, &scale->magnitude);
    if (left > 0)
        early_merge(&scale->magnitude, aps_magnitude_of(vector->in, left));
    run->contributed = left == 0;
    run->guess = guess.exponent;
    return true;
}

void aps_early_settle(struct aps_hierarchical_run *run,
                      const struct aps_stage_scale *scale, int greatest)
{
    struct aps_scaling scaling;

    if (run->early_stride == 0)
        return;
    aps_guess_note_exponent(run->cut.vectors[0].in, greatest);
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
