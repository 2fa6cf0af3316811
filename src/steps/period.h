/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The period of a sequence of counts: the calls of one training step.
 *
 * Search: the smallest period P whose pattern was seen and then repeated twice
 * (the last 3 P counts are periodic). A stated length is known from the start:
 * its first round records the counts; if lost, it is found as soon as it
 * repeats once.
 *
 * The calls of a step may come in an order that changes. If no order repeats,
 * the search is for the smallest P such that the last rounds of P calls have
 * the same counts, in different orders: two rounds if they are all calls so
 * far. The layers of such a period have the order of their sizes, the largest
 * first (sizes.h).
 *
 * Networks repeat blocks inside a step, so a period can be found too short. It
 * then breaks, and from there on only a stretch longer than the broken one
 * counts: a repetition inside a step is never longer than it was, and the step
 * itself always is. A period that has lasted for many rounds is trusted. Calls
 * between two of its rounds are an interruption (an evaluation, for example),
 * after which it continues with its first call. A break inside a round is one,
 * too, and the period is found again as soon as its pattern has been seen once.
 */
#ifndef APS_STEPS_PERIOD_H
#define APS_STEPS_PERIOD_H

#include <stdbool.h>
#include <stddef.h>

struct aps_period; /* opaque */

/* The longest period that is searched for. */
#define APS_PERIOD_MAX 8192

/* Rounds after which a period is trusted: more than the blocks of the deepest
 * networks. If it began with the very first call and is broken between two
 * rounds, fewer are enough, because networks begin or end with a layer of its
 * own shape, and evaluations come after a whole step. */
#define APS_PERIOD_ROUNDS 128
#define APS_PERIOD_ROUNDS_WHOLE 16

enum aps_follow {
    APS_FOLLOW_FITS,
    APS_FOLLOW_BROKEN, /* a trusted period was interrupted */
    APS_FOLLOW_WRONG   /* the period was wrong: its rounds were not steps */
};

/* `stated` calls make a step; 0: detect it. `any`: their order means nothing.
 * Returns NULL with errno ENOMEM. */
struct aps_period *aps_period_create(long stated, bool any);
void aps_period_destroy(struct aps_period *period); /* NULL is allowed */

/* Call it while no period is followed. Takes one count; true if a period is
 * known with it. The next call then has place aps_period_cursor of it. */
bool aps_period_search(struct aps_period *period, size_t count);
long aps_period_cursor(const struct aps_period *period);

/* Call it while a period is followed. Finds out whether the count fits at place
 * `cursor` of it, and which layer of the step it is. If it does not fit, the
 * search has restarted, and must be given this count. */
enum aps_follow aps_period_follow(struct aps_period *period, long cursor,
                                  size_t count, long *layer);

/* Call it while a detected period is followed, before its first call. True if a
 * trusted period starts again later, because the count begins no round. The
 * count is then for aps_period_watch. */
bool aps_period_is_between(struct aps_period *period, size_t count);

/* Takes a count between two rounds of a trusted period, the `first` of these or
 * not, because the program may have changed to another step. True if another
 * period is known with it, which is followed from now on, as after
 * aps_period_search. */
bool aps_period_watch(struct aps_period *period, size_t count, bool first);

/* Returns how often the latest calls repeat what came before, while no period is
 * known: the rounds of the longest stretch; 0 before any search. */
long aps_period_repeats(const struct aps_period *period);

/* Returns the calls of the period that is (or was last) known; 0: none yet. */
long aps_period_length(const struct aps_period *period);

/* Returns the count of its layer `i`. */
size_t aps_period_count(const struct aps_period *period, long i);

/* True if its calls come in any order. */
bool aps_period_is_any(const struct aps_period *period);

#endif
