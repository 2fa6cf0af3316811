/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worlds: a hidden communicator of the library, whose messages carry the
 * virtual communicators, and what its ranks agreed on when it was made
 * (handshake.h).
 *
 * MPI_Init makes the world of the job over MPI_COMM_WORLD. A communicator whose
 * ranks all belong to this world needs no other. In other cases (sessions, an
 * MPI_Init that the library did not see, processes of several jobs,
 * APSMPI_WORLD=off) the first blocking call on a communicator makes a world for
 * this communicator alone.
 */
#ifndef APS_PMPI_WORLD_HIDDEN_COMM_H
#define APS_PMPI_WORLD_HIDDEN_COMM_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "world/handshake.h"
#include "message/vcomm.h"

struct aps_comm_resources; /* comm/resources.h */

/* MPICH has some 2000 communicators at a time; each is offered a few blocks. */
#define APS_HIDDEN_COMM_BLOCKS 8192 /* of tags of one rank, at most */

struct aps_hidden_comm {
    atomic_int holders; /* the contexts and the job that hold it */
    MPI_Comm comm;
    MPI_Group group;
    struct aps_vcomm vcomm; /* all ranks of comm */
    int *nodes;             /* [vcomm.size]: vcomm.nodes */
    struct aps_handshake agreed;
    /* Tags come in blocks of APS_VCOMM_TAGS. The first block is the world's
     * own. Each rank owns `blocks` others, and hands them out to the virtual
     * communicators whose rank 0 it is (comm/resources.h). */
    int blocks;
    int next_block;       /* the next offer begins here; under the lock */
    pthread_mutex_t lock; /* of next_block and what follows */
    struct aps_comm_resources *resources; /* on this rank: in use, or kept */
    /* Frees the resources; NULL if none were made. */
    void (*forget)(struct aps_hidden_comm *world);
};

/*
 * COLLECTIVE over comm, a communicator of the program; blocking. If ranks do
 * not come within ten seconds, a line says so. `whole_job` as in aps_handshake.
 * Returns MPI_SUCCESS with *world, or -1 on all ranks: a rank is out of memory, or
 * MPI out of communicators. After an MPI error, perhaps of this rank alone, it prints
 * a line and returns the code.
 */
int aps_hidden_comm_create(MPI_Comm comm, bool whole_job,
                           struct aps_hidden_comm **world);

/* Local. Add or take away a holder. A new world has one holder; the release of
 * the last one destroys the world. Releasing NULL does nothing. */
void aps_hidden_comm_ref(struct aps_hidden_comm *world);
void aps_hidden_comm_release(struct aps_hidden_comm *world);

/* The job's world, set once. aps_hidden_comm_of_job gives NULL if the job has none,
 * and after MPI_Finalize has begun. */
void aps_hidden_comm_set_job(struct aps_hidden_comm *world);
struct aps_hidden_comm *aps_hidden_comm_of_job(void);

/*
 * Local. Translates the ranks of `comm` to ranks in `world`: an array of comm's
 * size, malloc'ed, which the caller frees. NULL if some rank of `comm` is not
 * in `world` (the same on all ranks of `comm`), or if this rank is out of
 * memory; *no_memory tells which.
 */
int *aps_hidden_comm_ranks(const struct aps_hidden_comm *world, MPI_Comm comm,
                           int size, bool *no_memory);

/* Local. The first tag of block `number` of rank `owner`'s blocks. */
int aps_hidden_comm_tag(const struct aps_hidden_comm *world, int owner,
                        int number);

#endif
