/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hidden communicator (world): the communicator of the library whose messages
 * carry the virtual communicators, with the agreement that its ranks made first
 * (handshake.h).
 *
 * MPI_Init makes the world of the job over MPI_COMM_WORLD. A communicator whose
 * ranks all belong to this world uses it. In other cases (sessions, an MPI_Init
 * that the library did not see, processes of several jobs, APSMPI_WORLD=off)
 * the first blocking call on a communicator makes a world for this communicator
 * alone.
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

/* Maximum number of blocks of tags that one rank owns. MPICH has some 2000
 * communicators at a time, and each is offered a few blocks. */
#define APS_HIDDEN_COMM_BLOCKS 8192

struct aps_hidden_comm {
    atomic_int holders; /* number of contexts, and the job, that hold it */
    MPI_Comm comm;
    bool kept; /* true in MPI_Finalize: MPICH 5 does not free a communicator in
                  which messages wait that no rank will receive */
    MPI_Group group;
    struct aps_vcomm vcomm; /* all ranks of comm */
    int *nodes;             /* [vcomm.size]: vcomm.nodes */
    struct aps_handshake agreed;
    /* Tags come in blocks of APS_VCOMM_TAGS. The world uses the first block.
     * Each rank owns `blocks` others, and gives them to the virtual
     * communicators whose rank 0 it is (comm/resources.h). */
    int blocks;
    int next_block;       /* first block of the next offer; under the lock */
    pthread_mutex_t lock; /* protects next_block and the fields below */
    struct aps_comm_resources *resources; /* resources on this rank, in use
                                             or kept */
    /* Frees the resources; NULL if none were made. */
    void (*forget)(struct aps_hidden_comm *world);
};

/*
 * COLLECTIVE over comm, a communicator of the program; blocking. Makes a world
 * with the ranks of `comm`. If ranks are missing after ten seconds, other ranks
 * print a line. `whole_job`: argument of aps_handshake. Returns MPI_SUCCESS
 * with *world, or -1 on all ranks if a rank lacks memory or MPI lacks a
 * communicator. After an MPI error, perhaps on this rank alone, it prints a
 * line and returns the code.
 */
int aps_hidden_comm_create(MPI_Comm comm, bool whole_job,
                           struct aps_hidden_comm **world);

/* Local. Adds or removes a holder. A new world has one holder; the release of
 * the last one destroys the world. Releasing NULL does nothing. */
void aps_hidden_comm_ref(struct aps_hidden_comm *world);
void aps_hidden_comm_release(struct aps_hidden_comm *world);

/* Local. Sets and returns the job's world. aps_hidden_comm_of_job returns NULL
 * if the job has none, and after MPI_Finalize has begun. */
void aps_hidden_comm_set_job(struct aps_hidden_comm *world);
struct aps_hidden_comm *aps_hidden_comm_of_job(void);

/*
 * Local. Translates the ranks of `comm` to ranks in `world`. Returns an array
 * of `size` ranks, which the caller frees. Returns NULL with *no_memory false
 * if some rank of `comm` is not in `world` (equal on all ranks of `comm`), or
 * NULL with *no_memory true if this rank lacks memory or MPI fails.
 */
int *aps_hidden_comm_ranks(const struct aps_hidden_comm *world, MPI_Comm comm,
                           int size, bool *no_memory);

/* Local. Returns the first tag of block `number` of rank `owner`. */
int aps_hidden_comm_tag(const struct aps_hidden_comm *world, int owner,
                        int number);

#endif
