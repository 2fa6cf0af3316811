/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual communicators: some ranks of one of the library's MPI communicators,
 * and a range of its tags. No other virtual communicator with a common rank
 * uses those tags at the same time. So point-to-point messages on it never
 * match those of others, and creating it needs neither a context id nor a call
 * of MPI_Comm_*.
 */
#ifndef APS_PMPI_MESSAGE_VCOMM_H
#define APS_PMPI_MESSAGE_VCOMM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Kinds of message. Messages of different kinds between two ranks never match
 * each other; messages of one kind arrive in the order in which they were sent. */
enum aps_tag {
    APS_TAG_AGREEMENT,
    APS_TAG_CONTRIBUTION,
    APS_TAG_RESULT,
    APS_TAG_EXPONENT,
    APS_TAG_SAMPLE,
    APS_TAG_NONE, /* no message has it */
    APS_TAGS = 8  /* tags of one part, some unused */
};

/* Parts of a virtual communicator, such as its groups or the peers across
 * groups. Each part has its own tags. */
enum aps_vcomm_part {
    APS_PART_WHOLE,
    APS_PART_GROUP,
    APS_PART_PEERS,
    APS_PARTS = 4
};

/* Number of tags that one virtual communicator and its parts use. */
#define APS_VCOMM_TAGS (APS_PARTS * APS_TAGS)

struct aps_vcomm {
    MPI_Comm comm; /* hidden communicator, with MPI_ERRORS_RETURN; not owned */
    int rank;
    int size;
    /* [size]: each rank's rank in `comm`; owned; NULL: equal ranks */
    int *ranks;
    int tag; /* first tag */
    /* Number that no other virtual communicator of the job has at any time, for
     * random bits. It is equal on all ranks, and 0 for parts. */
    uint64_t number;
    /* Lowest rank of `comm` on the same node, for each rank of `comm`; not
     * owned; NULL: nodes not known. */
    const int *nodes;
};

/* Local. Returns all ranks of `comm`, a communicator of the library, with the
 * tags from `tag` on. The nodes are not known. */
struct aps_vcomm aps_vcomm_all(MPI_Comm comm, int tag);

/* Local. Sets *vcomm to ranks[size] of `comm`, which are copied. This process
 * is ranks[rank]. `nodes` is as in the struct. Returns 0, or -1 if memory is
 * missing. */
int aps_vcomm_init(struct aps_vcomm *vcomm, MPI_Comm comm, int size, int rank,
                   const int ranks[], const int *nodes, int tag);

/*
 * Local. Makes a part of `whole` with the ranks members[size]. This process is
 * members[rank]. Parts of one kind that have a common rank must not be used at
 * the same time. Returns 0, or -1 if memory is missing.
 */
int aps_vcomm_divide(struct aps_vcomm *part, const struct aps_vcomm *whole,
                     enum aps_vcomm_part kind, int size, int rank,
                     const int members[]);

/* Local. Frees the ranks. Zeros, and a virtual communicator that was cleared
 * before, are allowed. */
void aps_vcomm_clear(struct aps_vcomm *vcomm);

/* Return the rank on vcomm->comm, and the tag of a kind of message, for
 * PMPI_Isend and PMPI_Irecv on vcomm->comm. */
static inline int aps_vcomm_rank(const struct aps_vcomm *vcomm, int rank)
{
    return vcomm->ranks ? vcomm->ranks[rank] : rank;
}

static inline int aps_vcomm_tag(const struct aps_vcomm *vcomm, enum aps_tag tag)
{
    return vcomm->tag + (int)tag;
}

#endif
