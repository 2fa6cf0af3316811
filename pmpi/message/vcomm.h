/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual communicators: some ranks of one MPI communicator of ours, and a range
 * of its tags that no other virtual communicator with a common rank uses at the
 * same time. Point-to-point messages on it therefore never meet those of others,
 * and making one costs neither a context id nor a call of MPI_Comm_*.
 */
#ifndef APS_PMPI_MESSAGE_VCOMM_H
#define APS_PMPI_MESSAGE_VCOMM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What a message is for: messages of two kinds between the same two ranks are
 * told apart, those of one kind arrive in the order in which they were sent. */
enum aps_tag {
    APS_TAG_AGREEMENT,
    APS_TAG_CONTRIBUTION,
    APS_TAG_RESULT,
    APS_TAG_EXPONENT,
    APS_TAG_SAMPLE,
    APS_TAGS = 8 /* of one part, some for later */
};

/* A virtual communicator may be divided into parts: its groups, the peers across
 * groups, ... Each part has tags of its own. */
enum aps_vcomm_part {
    APS_PART_WHOLE,
    APS_PART_GROUP,
    APS_PART_PEERS,
    APS_PARTS = 4
};

/* Tags that one virtual communicator and its parts use. */
#define APS_VCOMM_TAGS (APS_PARTS * APS_TAGS)

struct aps_vcomm {
    MPI_Comm comm; /* beneath, of ours, with MPI_ERRORS_RETURN; not owned */
    int rank;
    int size;
    int *ranks; /* [size]: rank in `comm` of each rank; owned; NULL: the same */
    int tag;    /* the first of its tags */
    /* A number that no other one of the job has had, nor will have: for random
     * bits. Equal on all ranks; 0 of parts. */
    uint64_t number;
    /* Of each rank of `comm`, the lowest rank of `comm` on the same node; not
     * owned; NULL: not known. */
    const int *nodes;
};

/* Local. All ranks of `comm`, one of ours, with the tags from `tag` on; the nodes
 * are not known. */
struct aps_vcomm aps_vcomm_all(MPI_Comm comm, int tag);

/* Local. ranks[size] of `comm`, which are copied; this process is ranks[rank];
 * `nodes` as in the struct. 0, or -1: out of memory. */
int aps_vcomm_init(struct aps_vcomm *vcomm, MPI_Comm comm, int size, int rank,
                   const int ranks[], const int *nodes, int tag);

/*
 * Local. A part of `whole`: its ranks members[size], of which this process is
 * members[rank]. Parts of one kind that have a common rank must not be used at
 * the same time. 0, or -1: out of memory.
 */
int aps_vcomm_divide(struct aps_vcomm *part, const struct aps_vcomm *whole,
                     enum aps_vcomm_part kind, int size, int rank,
                     const int members[]);

/* Zeros, or one that has been cleared: nothing. */
void aps_vcomm_clear(struct aps_vcomm *vcomm);

/* The rank beneath, and the tag of a kind of message, for PMPI_Isend and
 * PMPI_Irecv on vcomm->comm. */
static inline int aps_vcomm_rank(const struct aps_vcomm *vcomm, int rank)
{
    return vcomm->ranks ? vcomm->ranks[rank] : rank;
}

static inline int aps_vcomm_tag(const struct aps_vcomm *vcomm, enum aps_tag tag)
{
    return vcomm->tag + (int)tag;
}

#endif
