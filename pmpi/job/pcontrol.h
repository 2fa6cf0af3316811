/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pcontrol: the program switches the rewriting off and on, and marks its
 * epochs.
 *
 * Level 0 switches off: every call goes to MPI as it came, on every
 * communicator; steps are counted all the same, so that layers, steps and
 * epochs stay where they belong. Level 1 switches on again. Level 2 flushes the
 * log. Level 3 marks: epochs count marks from then on, whatever `per_epoch`
 * says. A mark ahead of the first gradient begins epoch 0, so that marks may
 * stand at the beginning of epochs or between them; every other mark begins the
 * next epoch.
 *
 * What the levels 0, 1 and 3 change must change at the same call on all ranks.
 */
#ifndef APS_PMPI_JOB_PCONTROL_H
#define APS_PMPI_JOB_PCONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "job/job.h"

/*
 * What holds for a call that is made now. A nonblocking call that is carried
 * out later takes what held when it was made: its ranks get to it at different
 * times.
 */
struct aps_pcontrol {
    bool off;
    long epoch; /* -1: nothing was marked yet */
};

/* 2 * (epoch + 1) + off: one word, to be read in every call. */
extern atomic_long aps_pcontrol_word;
extern atomic_bool aps_pcontrol_trained;

static inline struct aps_pcontrol aps_pcontrol_now(void)
{
    const long word =
        atomic_load_explicit(&aps_pcontrol_word, memory_order_relaxed);

    return (struct aps_pcontrol){.off = word & 1, .epoch = word / 2 - 1};
}

/* An all-reduce of `count` floats, or a relative, comes by. A gradient, for
 * marks to go by? */
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
 * The program called MPI_Pcontrol. COLLECTIVE over MPI_COMM_WORLD with levels 0,
 * 1 and 3 where its ranks agreed on a policy in MPI_Init (world.h), unless the
 * policy says `pcontrol: off`; if the ranks come with different levels, nothing
 * changes. No thread may reduce meanwhile. Otherwise local: without a policy, and
 * where the job has no world, nothing changes.
 */
void aps_pcontrol(int level);

#endif
