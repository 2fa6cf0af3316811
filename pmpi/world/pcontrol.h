/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pcontrol: the program switches rewriting off and on, and marks its
 * epochs.
 *
 * Level 0 switches rewriting off: every call on every communicator passes
 * through. The library still counts the calls, and continues to track layers,
 * steps and epochs. Level 1 switches rewriting on. Level 2 flushes the log.
 * Level 3 is an epoch mark: from the first mark on, epochs count marks and
 * `per_epoch` has no effect. A mark before the first gradient begins epoch 0;
 * every other mark begins the next epoch. A program may thus place its marks at
 * the beginning of epochs or between them. Level 4 drops the state that
 * compressors have kept of earlier calls; a program that loads other weights
 * does not need that state.
 *
 * Levels 0, 1, 3 and 4 must take effect at the same call on all ranks.
 */
#ifndef APS_PMPI_WORLD_PCONTROL_H
#define APS_PMPI_WORLD_PCONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "job/job.h"

/*
 * Settings for a call that the program makes now. A nonblocking call that is
 * carried out later uses the settings of the time when the program made it,
 * because the ranks carry it out at different times.
 */
struct aps_pcontrol {
    bool off;
    long epoch; /* -1: before the first mark */
    long drops; /* number of calls of level 4 so far */
};

/* `word` is 2 * (epoch + 1) + off, in a single word, because every call reads
 * it. The number of drops changes only while no call is made. */
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

/* Local. Notes for pcontrol_change that the program has reduced or gathered a
 * first gradient, if `count`, in floats, is that of a gradient. */
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
 * COLLECTIVE over MPI_COMM_WORLD with levels 0, 1, 3 and 4 if its ranks agreed
 * on a policy in MPI_Init (hidden_comm.h), unless the policy says `pcontrol:
 * off`; otherwise local. Carries out an MPI_Pcontrol of the program. If the
 * ranks call different levels, nothing changes. No other thread may reduce
 * during the call. Without a policy, or if the job has no world, only level 2
 * has an effect.
 */
void aps_pcontrol(int level);

#endif
