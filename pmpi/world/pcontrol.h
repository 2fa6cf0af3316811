/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pcontrol: the program switches the rewriting off and on, and marks its
 * epochs.
 *
 * Level 0 switches rewriting off: every call on every communicator passes
 * through. The library still counts the calls, and keeps its place in the
 * layers, steps and epochs. Level 1 switches rewriting on. Level 2 flushes the
 * log. Level 3 is an epoch mark: from the first mark on, epochs count marks and
 * `per_epoch` has no effect. A mark before the first gradient begins epoch 0;
 * every other mark begins the next epoch. A program may thus place its marks at
 * the beginning of epochs or between them. Level 4 drops what compressors have kept
 * of earlier calls: a program that loads other weights has no use for it.
 *
 * What levels 0, 1, 3 and 4 change must change at the same call on all ranks.
 */
#ifndef APS_PMPI_WORLD_PCONTROL_H
#define APS_PMPI_WORLD_PCONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "job/job.h"

/*
 * What holds for a call that the program makes now. A nonblocking call that is
 * carried out later uses what held when the program made it, because the ranks
 * carry it out at different times.
 */
struct aps_pcontrol {
    bool off;
    long epoch; /* -1: before the first mark */
    long drops; /* calls of level 4 so far */
};

/* 2 * (epoch + 1) + off: a single word, because every call reads it; and drops,
 * which change while no call is made. */
extern atomic_long aps_pcontrol_word;
extern atomic_long aps_pcontrol_drops;
extern atomic_bool aps_pcontrol_trained;

static inline struct aps_pcontrol aps_pcontrol_now(void)
{
    const long word =
        atomic_load_explicit(&aps_pcontrol_word, memory_order_relaxed);

    return (struct aps_pcontrol){
        .off = word & 1,
        .epoch = word / 2 - 1,
        .drops =
            atomic_load_explicit(&aps_pcontrol_drops, memory_order_relaxed),
    };
}

/* The program reduces or gathers `count` floats. Notes that the first gradient
 * was seen, if `count` is that of a gradient: pcontrol_change needs it. */
static inline void aps_pcontrol_note_call(const struct aps_job *job,
                                          size_t count)
{
    if (!atomic_load_explicit(&aps_pcontrol_trained, memory_order_relaxed) &&
        job->held == APS_HELD_GOOD &&
        count >= aps_policy_min_count(job->policy))
        atomic_store_explicit(&aps_pcontrol_trained, true,
                              memory_order_relaxed);
}

/*
 * The program called MPI_Pcontrol. COLLECTIVE over MPI_COMM_WORLD with levels
 * 0, 1, 3 and 4 if its ranks agreed on a policy in MPI_Init (world.h), unless the
 * policy says `pcontrol: off`. If the ranks call different levels, nothing
 * changes. No other thread may reduce meanwhile. In all other cases local;
 * without a policy, or if the job has no world, nothing changes.
 */
void aps_pcontrol(int level);

#endif
