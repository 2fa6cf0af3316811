/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/hierarchical_early.h"

#include <limits.h>

#include "base/cache.h"
#include "message/agree.h"
#include "block/guess.h"
#include "reduce/hierarchical_handoff.h"
#include "reduce/hierarchical_places.h"

/* A rank's slot, at most: a byte each of the values of a fusion buffer of 128 MiB. The
 * slots of all ranks take no more than this share of what shared memory is left, which
 * containers have little of and others need, too. */
#define SLOT_MOST ((size_t)32 * 1024 * 1024)
#define SHARE 4

/* Room is exchanged in these. */
#define UNIT ((size_t)1024)

void aps_early_init(struct aps_early *early)
{
    *early =
        (struct aps_early){.least = aps_cache_early(), .refused = SIZE_MAX};
}

void aps_early_clear(struct aps_early *early)
{
    aps_shm_group_destroy(early->node);
}

/* Between the blocks of the call's slots, and what they take. */
static size_t early_stride(const struct aps_hierarchical_run *run)
{
    const struct aps_cut *cut = &run->cut;
    const size_t granule = aps_codec_granule(&run->inside.codec);

    return aps_block_stride(
        &run->inside, aps_slice_longest(cut->length, granule, cut->parts));
}

static size_t early_bytes(const struct aps_hierarchical_run *run)
{
    return aps_cut_chunks(&run->cut) * (size_t)run->cut.parts *
           early_stride(run);
}

/* Is the call one that this rank encodes early, if it can? */
static bool early_takes(const struct aps_hierarchical_run *run)
{
    const struct aps_hierarchical *h = run->h;
    const struct aps_vector *vector = &run->cut.vectors[0];

    return run->cut.count == 1 && run->slots == &h->host &&
           aps_hierarchical_is_alone(h) &&
           vector->n * sizeof(float) >= h->early.least && !vector->measured &&
           vector->memory == &aps_memory_host;
}

/* Does the codec of this CPU encode beside a search? */
static bool early_is_possible(const struct aps_hierarchical_run *run,
                              int exponent)
{
    unsigned char block[APS_BLOCK_HEADER_MOST];
    struct aps_magnitude none;

    return aps_block_encode_search(&run->inside, run->cut.vectors[0].in, 0,
                                   exponent, block, &none);
}

/* An owner's slice of a chunk. False: not with this codec. */
static bool early_encode_slice(struct aps_hierarchical_run *run, size_t k,
                               const struct aps_piece *piece,
                               struct aps_slice slice, int owner,
                               struct aps_magnitude *found)
{
    const struct aps_handoff *handoff = &run->h->handoff;
    const int rank = aps_shm_group_rank(run->h->node);
    unsigned char *const to = aps_stage_slot_slice(run, k, rank, owner);
    unsigned char *const made =
        owner != rank ? aps_handoff_make(handoff, owner, to) : to;

    if (!aps_block_encode_search(&run->inside, piece->in + slice.begin,
                                 slice.length, piece->exponent, made, found))
        return false;
    if (owner != rank)
        aps_handoff_pass(handoff, owner, to,
                         aps_block_bytes(&run->inside, slice.length));
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

/* What is exchanged. */
enum {
    WANTED, /* room, in units */
    NONE, /* this rank has not encoded its vector; 0: or shown that no rank need */
    GUESS, /* the greatest exponent that it is encoded for */
    OTHER  /* and the negative; another number: it is encoded in vain */
};

static void early_decline(int words[APS_EARLY_WORDS])
{
    words[WANTED] = 0;
    words[NONE] = 1;
    words[GUESS] = words[OTHER] = INT_MIN;
}

static bool early_is_bounded(const struct aps_hierarchical_run *run,
                             struct aps_magnitude magnitude, int exponent)
{
    struct aps_scaling scaling;

    (void)aps_block_choose_scaling(&run->inside, magnitude, exponent, &scaling);
    return scaling.bounded;
}

bool aps_early_encode(struct aps_hierarchical_run *run,
                      struct aps_stage_scale *scale, int words[APS_EARLY_WORDS])
{
    const struct aps_early *early = &run->h->early;
    const struct aps_vector *vector = &run->cut.vectors[0];
    struct aps_stage_scale guess = {0};
    size_t bytes, left;
    int greatest;

    early_decline(words);
    if (!early_takes(run) || !aps_guess_recall_exponent(vector->in, &greatest))
        return false;
    guess.exponent = aps_exponent_of_stage(&run->inside, greatest);
    if (!early_is_possible(run, guess.exponent))
        return false;
    bytes = early_bytes(run);
    if (bytes > early->bytes) {
        const size_t units = (bytes + UNIT - 1) / UNIT;

        if (bytes <= SLOT_MOST && units * UNIT < early->refused)
            words[WANTED] = (int)units;
        return false;
    }
    run->early_stride = early_stride(run);
    scale->magnitude = (struct aps_magnitude){0, true};
    left = early_encode_values(run, &guess, greatest, &scale->magnitude);
    if (left > 0)
        early_merge(&scale->magnitude, aps_magnitude_of(vector->in, left));
    words[NONE] = 0;
    words[GUESS] = greatest;
    words[OTHER] =
        left == 0 && early_is_bounded(run, scale->magnitude, guess.exponent)
            ? -greatest
            : INT_MAX;
    return true;
}

/* COLLECTIVE over the group. */
static void early_make_room(struct aps_hierarchical *h, size_t bytes)
{
    struct aps_early *early = &h->early;
    const struct aps_vcomm *group = &h->groups.group;
    struct aps_shm_group *node;
    char cause[256];

    if (!aps_agree_all(group, aps_shm_group_free_bytes() / SHARE / bytes >=
                                  (size_t)group->size) ||
        aps_shm_group_create(group, bytes, 0, &node, cause, sizeof cause) < 0) {
        early->refused = bytes < early->refused ? bytes : early->refused;
        return;
    }
    aps_shm_group_destroy(early->node);
    early->node = node;
    early->bytes = bytes;
}

void aps_early_settle(struct aps_hierarchical_run *run, int greatest,
                      const int words[APS_EARLY_WORDS])
{
    const bool tried = run->early_stride > 0, all = words[NONE] == 0;

    if (early_takes(run))
        aps_guess_note_exponent(run->cut.vectors[0].in, greatest,
                                tried && !all);
    if (!all || words[GUESS] != greatest || words[OTHER] != -greatest)
        run->early_stride = 0;
    if (words[WANTED] > 0)
        early_make_room(run->h, (size_t)words[WANTED] * UNIT);
}

void aps_early_count(const struct aps_hierarchical_run *run,
                     const struct aps_piece *piece, struct aps_slice slice,
                     int owner)
{
    const size_t bytes = aps_block_bytes(&run->inside, slice.length);
    struct aps_cost *cost = run->cost;

    aps_cost_note(cost, piece->exponent);
    if (owner == aps_shm_group_rank(run->h->node))
        return;
    aps_cost_add(cost, &run->inside, slice.length, 1);
    aps_stage_count_handoff(run, owner, bytes);
    cost->early_bytes += bytes;
}
