/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/resources.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "message/agree.h"
#include "message/wait.h"

/* Rank 0 offers one in OFFERED of the free blocks that it offers to no other
 * communicator, and at least one. Other ranks may still use a block that rank 0
 * has given back, or never use it again. MPICH's 8192 blocks are then enough
 * for 3000 communicators whose agreements are under way at the same time. */
#define OFFERED 1024

/* Maximum number of unused resources that a hidden communicator keeps. */
#define KEPT_MAX 4

#define WORDS (APS_HIDDEN_COMM_BLOCKS / 64)

/* The ranks agree on this record by AND; it has one bit for each block of rank
 * 0. */
struct masks {
    uint64_t kept[WORDS]; /* blocks of kept resources of the same ranks */
    uint64_t free[WORDS]; /* blocks that this rank does not use */
    uint64_t number; /* number of the communicator on rank 0; all ones on other
                        ranks */
};
#define MASKS_COUNT ((int)(sizeof(struct masks) / sizeof(uint64_t)))

struct aps_comm_resources {
    struct aps_comm_resources *next; /* next in the list of the hidden
                                        communicator */
    struct aps_hidden_comm *world;
    enum { AGREEING, USED, KEPT, LOST } state;
    bool offered; /* KEPT, and offered in an agreement that is not complete */
    unsigned long released; /* KEPT: order of release; the lowest was released
                               first */
    int owner;  /* rank in `world` of rank 0, which owns the block */
    int number; /* number of the block; -1 while AGREEING */
    struct aps_vcomm vcomm;
    struct aps_reductions *reductions;

    /* The following fields are used while AGREEING. */
    MPI_Request request;
    struct masks offer, agreed; /* offer of this rank; offer of all ranks */
    int last; /* on rank 0: last block of the offer, in cyclic order */
};

static bool resources_bit(const uint64_t mask[WORDS], int number)
{
    return mask[number / 64] >> (number % 64) & 1;
}

static void resources_set_bit(uint64_t mask[WORDS], int number, bool value)
{
    const uint64_t bit = UINT64_C(1) << (number % 64);

    mask[number / 64] =
        value ? mask[number / 64] | bit : mask[number / 64] & ~bit;
}

/* Returns the lowest block of the mask, or -1. */
static int resources_lowest(const uint64_t mask[WORDS])
{
    for (int i = 0; i < WORDS; i++)
        if (mask[i])
            return i * 64 + __builtin_ctzll(mask[i]);
    return -1;
}

static bool resources_same_ranks(const struct aps_vcomm *a,
                                 const struct aps_vcomm *b)
{
    return a->size == b->size && a->rank == b->rank &&
           memcmp(a->ranks, b->ranks, (size_t)a->size * sizeof *a->ranks) == 0;
}

/* --- list of the hidden communicator, under its lock ---------------------- */

/* Fills in the offer of this rank: blocks of the owner that this rank does not
 * use, and blocks of kept resources of the same ranks. */
static void resources_fill_masks_locked(struct aps_comm_resources *new)
{
    const struct aps_hidden_comm *world = new->world;

    for (int i = 0; i < world->blocks; i++)
        resources_set_bit(new->offer.free, i, true);
    for (struct aps_comm_resources *other = world->resources; other;
         other = other->next) {
        if (other->owner != new->owner || other->state == AGREEING)
            continue;
        /* If the owner no longer keeps a block, this rank need not keep it
         * either. */
        if (other->state != KEPT || new->vcomm.rank == 0)
            resources_set_bit(new->offer.free, other->number, false);
        if (other->state == KEPT && !other->offered &&
            resources_same_ranks(&other->vcomm, &new->vcomm)) {
            resources_set_bit(new->offer.kept, other->number, true);
            other->offered = true;
        }
    }
}

static int resources_count(const uint64_t mask[WORDS])
{
    int count = 0;

    for (int i = 0; i < WORDS; i++)
        count += __builtin_popcountll(mask[i]);
    return count;
}

/* Runs on rank 0. Removes the blocks that rank 0 offers to another communicator,
 * and all but the first few of the rest. */
static void resources_limit_offer_locked(struct aps_comm_resources *new)
{
    struct aps_hidden_comm *world = new->world;
    int offers;

    for (const struct aps_comm_resources *other = world->resources; other;
         other = other->next)
        if (other->owner == new->owner && other->state == AGREEING)
            for (int i = 0; i < WORDS; i++)
                new->offer.free[i] &= ~other->offer.free[i];
    offers = (resources_count(new->offer.free) + OFFERED - 1) / OFFERED;
    /* Start at next_block, so that blocks released longest ago come first. */
    new->last = world->next_block;
    for (int i = 0; i < world->blocks; i++) {
        const int number = (world->next_block + i) % world->blocks;

        if (!resources_bit(new->offer.free, number))
            continue;
        if (offers-- > 0)
            new->last = number;
        else
            resources_set_bit(new->offer.free, number, false);
    }
}

static void resources_withdraw_offer_locked(struct aps_comm_resources *new)
{
    for (struct aps_comm_resources *other = new->world->resources; other;
         other = other->next)
        if (other->owner == new->owner &&
            other->state ==
                KEPT &&resources_bit(new->offer.kept, other->number))
            other->offered = false;
}

static void resources_list_locked(struct aps_comm_resources *resources)
{
    resources->next = resources->world->resources;
    resources->world->resources = resources;
}

static void resources_unlist_locked(struct aps_comm_resources *resources)
{
    struct aps_comm_resources **link = &resources->world->resources;

    while (*link != resources)
        link = &(*link)->next;
    *link = resources->next;
}

/* Returns the kept resources with that block of the same owner, or NULL. */
static struct aps_comm_resources *
resources_find_kept_locked(const struct aps_comm_resources *new, int number)
{
    struct aps_comm_resources *other = new->world->resources;

    while (other && (other->owner != new->owner || other->number != number))
        other = other->next;
    return other;
}

/* Removes the resources that were released longest ago from the list and
 * returns them, if the hidden communicator keeps too many; otherwise returns
 * NULL. */
static struct aps_comm_resources *
resources_evict_locked(struct aps_hidden_comm *world)
{
    struct aps_comm_resources *oldest = NULL;
    int kept = 0;

    for (struct aps_comm_resources *other = world->resources; other;
         other = other->next) {
        if (other->state != KEPT)
            continue;
        kept++;
        if (!other->offered && (!oldest || other->released < oldest->released))
            oldest = other;
    }
    if (kept <= KEPT_MAX || !oldest)
        return NULL;
    resources_unlist_locked(oldest);
    return oldest;
}

/* -------------------------------------------------------------------------- */

static void resources_destroy(struct aps_comm_resources *resources)
{
    aps_reductions_destroy(resources->reductions);
    aps_vcomm_clear(&resources->vcomm);
    if (resources->request == MPI_REQUEST_NULL)
        free(resources); /* otherwise MPI may still write to its masks */
}

/* Frees all resources of a hidden communicator before it is destroyed. */
static void resources_forget(struct aps_hidden_comm *world)
{
    while (world->resources) {
        struct aps_comm_resources *first = world->resources;

        world->resources = first->next;
        resources_destroy(first);
    }
}

/* Returns a number for a communicator of which this process is rank 0: its rank
 * in the job, and a count of the communicators that it has numbered. */
static uint64_t resources_number(void)
{
    static atomic_uint numbered;

    return (uint64_t)(uint32_t)aps_job_rank() << 32 |
           atomic_fetch_add(&numbered, 1);
}

int aps_comm_resources_begin(struct aps_hidden_comm *world, MPI_Comm comm,
                             const struct aps_members *members,
                             struct aps_comm_resources **resources)
{
    struct aps_comm_resources *new = calloc(1, sizeof *new);
    int rc;

    if (!new)
        return MPI_ERR_NO_MEM;
    new->request = MPI_REQUEST_NULL;
    if (aps_vcomm_init(&new->vcomm, world->comm, members->size, members->rank,
                       members->ranks, world->nodes, 0) < 0) {
        free(new);
        return MPI_ERR_NO_MEM;
    }
    new->reductions =
        aps_reductions_create(&new->vcomm, aps_job()->options.test_nodes,
                              aps_job()->options.test_cyclic);
    if (!new->reductions) {
        resources_destroy(new);
        return MPI_ERR_NO_MEM;
    }
    new->world = world;
    new->owner = members->ranks[0];
    new->number = -1;
    pthread_mutex_lock(&world->lock);
    world->forget = resources_forget;
    resources_fill_masks_locked(new);
    if (members->rank == 0)
        resources_limit_offer_locked(new);
    new->offer.number = members->rank == 0 ? resources_number() : UINT64_MAX;
    resources_list_locked(new);
    pthread_mutex_unlock(&world->lock);
    /* Keep the program's error handler: if errors are fatal, it ends the job
     * at once. Other threads may use comm now, and aps_errhandler_pop could
     * not restore the state of an MPICH communicator without a handler of
     * its own. */
    new->agreed = new->offer;
    rc = aps_agree_comm_begin(comm, MASKS_COUNT, &new->agreed, MPI_UINT64_T,
                              MPI_BAND, &new->request);
    if (rc == MPI_SUCCESS) {
        *resources = new;
        return rc;
    }
    pthread_mutex_lock(&world->lock);
    resources_withdraw_offer_locked(new);
    resources_unlist_locked(new);
    pthread_mutex_unlock(&world->lock);
    resources_destroy(new);
    return rc;
}

/* Returns the resources that the ranks have agreed on, after the agreement, or
 * NULL if they have no block in common. *dropped: kept resources of this rank
 * whose block the ranks have chosen as a free one, off the list; or NULL. */
static struct aps_comm_resources *
resources_choose_locked(struct aps_comm_resources *new,
                        struct aps_comm_resources **dropped)
{
    const struct masks *agreed = &new->agreed;
    const int kept = resources_lowest(agreed->kept);
    const int number = resources_lowest(agreed->free);
    struct aps_comm_resources *chosen = new;

    resources_withdraw_offer_locked(new);
    if (kept >= 0) {
        chosen = resources_find_kept_locked(new, kept);
    } else if (number >= 0) {
        *dropped = resources_find_kept_locked(new, number);
        if (*dropped)
            resources_unlist_locked(*dropped);
        if (new->vcomm.rank == 0)
            new->world->next_block = number + 1;
        new->number = number;
        new->vcomm.tag = aps_hidden_comm_tag(new->world, new->owner, number);
    } else {
        /* Offer other blocks to the next communicator. */
        if (new->vcomm.rank == 0)
            new->world->next_block = new->last + 1;
        chosen = NULL;
    }
    if (chosen) {
        chosen->state = USED;
        chosen->vcomm.number = agreed->number;
    }
    if (chosen != new)
        resources_unlist_locked(new);
    return chosen;
}

int aps_comm_resources_complete(struct aps_comm_resources **resources)
{
    struct aps_comm_resources *new = *resources;
    struct aps_comm_resources *chosen = NULL, *dropped = NULL;
    pthread_mutex_t *lock = &new->world->lock;
    int rc =
        aps_wait_requests_telling(1, &new->request, aps_agree_report_missing);

    if (rc != MPI_SUCCESS)
        new->agreed = (struct masks){0};
    pthread_mutex_lock(lock);
    chosen = resources_choose_locked(new, &dropped);
    pthread_mutex_unlock(lock);
    if (dropped)
        resources_destroy(dropped);
    if (chosen != new)
        resources_destroy(new);
    *resources = chosen;
    return rc;
}

void aps_comm_resources_release(struct aps_comm_resources *resources,
                                bool failed)
{
    static atomic_ulong releases; /* one counter for all: each hidden
                                     communicator has its own lock */
    struct aps_comm_resources *evicted = NULL;
    struct aps_hidden_comm *world;

    if (!resources)
        return;
    world = resources->world;
    pthread_mutex_lock(&world->lock);
    resources->state = failed ? LOST : KEPT;
    resources->released = atomic_fetch_add(&releases, 1);
    if (!failed)
        evicted = resources_evict_locked(world);
    pthread_mutex_unlock(&world->lock);
    if (failed) {
        aps_reductions_destroy(resources->reductions);
        resources->reductions = NULL;
    }
    if (evicted)
        resources_destroy(evicted);
}

struct aps_reductions *
aps_comm_resources_reductions(struct aps_comm_resources *resources)
{
    return resources->reductions;
}

const struct aps_vcomm *
aps_comm_resources_vcomm(const struct aps_comm_resources *resources)
{
    return &resources->vcomm;
}
