/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worlds: a hidden communicator of ours, on which virtual communicators live,
 * and what its ranks agreed on when it was made (handshake.h).
 *
 * The usual world is that of the job, made in MPI_Init over MPI_COMM_WORLD: every
 * communicator whose ranks belong to it needs none of its own. Where there is no
 * such world (sessions, MPI initialised behind our back, processes of several
 * jobs, APSMPI_WORLD=off), a communicator gets a world of its own by its first
 * blocking call.
 */
#ifndef APS_PMPI_JOB_WORLD_H
#define APS_PMPI_JOB_WORLD_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "job/handshake.h"
#include "progress/vcomm.h"

struct aps_comm_resources; /* comm/resources.h */

/* MPICH has some 2000 communicators at a time, each of which is offered a few. */
#define APS_WORLD_BLOCKS 8192 /* of one rank, at most */

struct aps_world {
    atomic_int holders; /* contexts, and the job */
    MPI_Comm comm;
    MPI_Group group;
    struct aps_vcomm vcomm; /* all of it */
    int *nodes;             /* [vcomm.size]: vcomm.nodes */
    struct aps_handshake agreed;
    /* Tags come in blocks of APS_VCOMM_TAGS. Block 0 is the world's own; each
     * rank hands out so many to the virtual communicators that it is rank 0 of
     * (comm/resources.h). */
    int blocks;
    int next_block;       /* under the lock: where the next offer begins */
    pthread_mutex_t lock; /* of what follows */
    struct aps_comm_resources *resources; /* on this rank, in use or kept */
    void (*forget)(
        struct aps_world *world); /* free them; NULL: there are none */
};

/*
 * COLLECTIVE over comm, a communicator of the program, blocking: the first
 * message on it tells after ten seconds if ranks are missing. `whole_job` as in
 * aps_handshake. 0 on all ranks with *world, or -1 on all ranks: out of memory,
 * or of communicators.
 */
int aps_world_create(MPI_Comm comm, bool whole_job, struct aps_world **world);

/* Local. Who holds a world lets go of it; with the last it is destroyed. The one
 * that is created has one holder. NULL: nothing. */
void aps_world_hold(struct aps_world *world);
void aps_world_release(struct aps_world *world);

/* The job's world, made once. aps_world_of_job is NULL where there is none, and
 * when MPI_Finalize has begun. */
void aps_world_set_job(struct aps_world *world);
struct aps_world *aps_world_of_job(void);

/*
 * Local. The ranks in `world` of all ranks of `comm`, in an array of comm's size,
 * malloc'ed for the caller. NULL: not all of them belong to it, which is the same
 * on all ranks of `comm`; or out of memory, and then *no_memory.
 */
int *aps_world_ranks(const struct aps_world *world, MPI_Comm comm, int size,
                     bool *no_memory);

/* Local. The first tag of block `number` of those that rank `owner` hands out. */
int aps_world_tag(const struct aps_world *world, int owner, int number);

#endif
