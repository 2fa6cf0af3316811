/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small agreements between ranks, by messages on a virtual communicator. Their
 * waits are ours (wait.h): they stay cheap with more ranks than cores, and give
 * way on a fiber. A rank sends and receives to the end of an agreement, also after
 * an error: the other ranks wait for its messages, and the next agreement must
 * not find theirs.
 */
#ifndef APS_PMPI_MESSAGE_AGREE_H
#define APS_PMPI_MESSAGE_AGREE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "message/vcomm.h"

/* COLLECTIVE over vcomm. values[i] becomes its MAX over the ranks. An MPI error
 * code. */
int aps_agree_max(const struct aps_vcomm *vcomm, int count, int values[]);

/* COLLECTIVE over vcomm. bits[size] become their OR over the ranks. An MPI
 * error code. */
int aps_agree_or(const struct aps_vcomm *vcomm, void *bits, size_t size);

/* COLLECTIVE over vcomm. *good becomes true on all ranks if it is true on all. Returns
 * an MPI error code; after an error *good is false on this rank. */
int aps_agree_all(const struct aps_vcomm *vcomm, bool *good);

/* Local. Print that this rank waits for ranks that may never come, because they
 * were given no library: what to call where ranks first meet. */
void aps_agree_report_missing(void);

/* Is this rank of MPI_COMM_WORLD one of those that print such a line? */
static inline bool aps_agree_rank_reports(int rank)
{
    return rank < 16 || rank % 64 == 0;
}

/* COLLECTIVE over vcomm. `size` bytes of rank `root` go to all ranks. An MPI
 * error code. */
int aps_agree_bytes(const struct aps_vcomm *vcomm, int root, void *bytes,
                    size_t size);

/* COLLECTIVE over vcomm. `values` has `each` bytes for each rank, in rank order.
 * Those of this rank, at its own place, go to the same place on all ranks. Returns
 * an MPI error code. */
int aps_agree_gather_bytes(const struct aps_vcomm *vcomm, size_t each,
                           void *values);

/* COLLECTIVE over vcomm. The text of the lowest rank whose text is not empty
 * goes to all; texts are arrays of `size`. Returns an MPI error code. */
int aps_agree_cause(const struct aps_vcomm *vcomm, char *text, size_t size);

/* --- in two steps --------------------------------------------------------- */

/* Up to so many ranks exchange their values with all others at once; more ranks
 * need several rounds. */
#define APS_AGREEMENT_DIRECT 16

/* Bytes that ranks agree on at a time. */
#define APS_AGREEMENT_BYTES 576
#define APS_AGREEMENT_INTS (APS_AGREEMENT_BYTES / (int)sizeof(int))

/* An agreement that is under way. Zeros: none is. */
struct aps_agreement {
    const struct aps_vcomm *vcomm;
    enum aps_tag tag;
    void (*combine)(void *values, const void *theirs, size_t size);
    void *values; /* the caller's */
    size_t size;
    int count; /* of requests */
    MPI_Request requests[2 * (APS_AGREEMENT_DIRECT - 1)];
    int rc; /* of what was posted */
    union {
        int ints[APS_AGREEMENT_INTS]; /* they are aligned for this */
        unsigned char bytes[APS_AGREEMENT_BYTES];
    } theirs[APS_AGREEMENT_DIRECT - 1];
};

/*
 * aps_agree_max in two steps, so that other work can be done while its messages
 * are under way: each is COLLECTIVE over vcomm, both in the same order. `tag`
 * tells agreements apart that overlap others. values[count] stay untouched, and
 * *agreement where it is, until the end; count is APS_AGREEMENT_INTS at most.
 * An MPI error code.
 */
int aps_agreement_begin(struct aps_agreement *agreement,
                        const struct aps_vcomm *vcomm, enum aps_tag tag,
                        int count, int values[]);
int aps_agreement_end(struct aps_agreement *agreement);

/* --- on a communicator of the program ------------------------------------- */

/*
 * Agreements on a communicator of the program, by nonblocking collective calls,
 * which never meet its messages. COLLECTIVE over comm; aps_agree_comm_begin is
 * local, but counts as a nonblocking collective call: values[count] are combined in
 * place. If MPI fails, the error handler of comm is called, unless aps_errhandler_push
 * has put it aside, and a line is printed. Returns an MPI error code.
 */
int aps_agree_comm_begin(MPI_Comm comm, int count, void *values,
                         MPI_Datatype type, MPI_Op op, MPI_Request *request);

/* aps_agree_all on comm. `tell` is called after ten seconds, once. NULL: nothing is. */
int aps_agree_comm_all(MPI_Comm comm, bool *good, void (*tell)(void));

/*
 * Setting up may fail, and must then not call the program's error handler:
 * errors on comm are only returned until aps_errhandler_pop puts back what
 * aps_errhandler_push gave. A communicator whose errors seem to end the job
 * where MPI_COMM_WORLD's do not is left as it is. Local.
 */
MPI_Errhandler aps_errhandler_push(MPI_Comm comm);
void aps_errhandler_pop(MPI_Comm comm, MPI_Errhandler theirs);

#endif
