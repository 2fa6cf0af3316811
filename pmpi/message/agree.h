/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreements of ranks on small values, by messages on a virtual communicator.
 * They wait by wait.h: cheaply with more ranks than cores, and on a fiber they
 * yield.
 *
 * A rank sends and receives to the end of an agreement, also after an error:
 * the other ranks wait for its messages, and the next agreement must not
 * receive old ones.
 */
#ifndef APS_PMPI_MESSAGE_AGREE_H
#define APS_PMPI_MESSAGE_AGREE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message/vcomm.h"

/* COLLECTIVE over vcomm. Replaces values[i] by its maximum over the ranks.
 * Returns an MPI error code. */
int aps_agree_max(const struct aps_vcomm *vcomm, int count, int values[]);

/* COLLECTIVE over the ranks of a node. Tells the waits how many ranks there are, and
 * on how many cores they may run together, which a rank's own binding does not show. */
void aps_agree_cores(const struct aps_vcomm *vcomm);

/* COLLECTIVE over vcomm. Sets *good to true on all ranks if it is true on all
 * ranks. Returns an MPI error code; after an error *good is false on this rank. */
int aps_agree_all(const struct aps_vcomm *vcomm, bool *good);

/* Local. Prints once that this rank waits for ranks that may never come because
 * they run without the library. Used where ranks first meet. */
void aps_agree_report_missing(void);

/* Local. True if this rank of MPI_COMM_WORLD is one of those that print such a
 * line. */
static inline bool aps_agree_rank_reports(int rank)
{
    return rank < 16 || rank % 64 == 0;
}

/* COLLECTIVE over vcomm. Sends `size` bytes of rank `root` to all ranks.
 * Returns an MPI error code. */
int aps_agree_bytes(const struct aps_vcomm *vcomm, int root, void *bytes,
                    size_t size);

/* COLLECTIVE over vcomm. `values` has `each` bytes for each rank, in rank
 * order. Copies the bytes of each rank to the same position on all ranks.
 * Returns an MPI error code. */
int aps_agree_gather_bytes(const struct aps_vcomm *vcomm, size_t each,
                           void *values);

/* COLLECTIVE over vcomm. Copies the text of the lowest rank whose text is not
 * empty to all ranks; each text is an array of `size` bytes. Returns an MPI
 * error code. As in all agreements, MPI_ERR_OTHER may mean that another rank has
 * sent too few bytes, a wrong checksum, or numbers out of range. */
int aps_agree_cause(const struct aps_vcomm *vcomm, char *text, size_t size);

/* --- in two steps --------------------------------------------------------- */

/* Largest number of ranks that exchange their values with all others at once;
 * more ranks need several rounds. */
#define APS_AGREEMENT_DIRECT 16

/* Largest number of bytes of one agreement. */
#define APS_AGREEMENT_BYTES 576
#define APS_AGREEMENT_INTS (APS_AGREEMENT_BYTES / (int)sizeof(int))

/* Values as they travel: their checksum follows them. */
union aps_agreement_message {
    int ints[APS_AGREEMENT_INTS]; /* aligns the bytes for ints */
    unsigned char bytes[APS_AGREEMENT_BYTES + sizeof(uint32_t)];
};

/* State of an agreement under way. Zeros: no agreement is under way. */
struct aps_agreement {
    const struct aps_vcomm *vcomm;
    enum aps_tag tag;
    void (*combine)(void *values, const void *theirs, size_t size);
    void *values; /* not owned */
    size_t size;
    int count; /* number of requests */
    MPI_Request requests[2 * (APS_AGREEMENT_DIRECT - 1)];
    int rc; /* first error of the posted messages */
    union aps_agreement_message mine;
    union aps_agreement_message theirs[APS_AGREEMENT_DIRECT - 1];
};

/*
 * aps_agree_max in two steps, so that other work can be done while its messages
 * are under way. Each step is COLLECTIVE over vcomm, and all ranks begin and
 * end agreements in the same order.
 *
 * `tag` distinguishes agreements that overlap. Until the end the caller must
 * neither change values[count] nor move *agreement. `count` is at most
 * APS_AGREEMENT_INTS. Each step returns an MPI error code.
 */
int aps_agreement_begin(struct aps_agreement *agreement,
                        const struct aps_vcomm *vcomm, enum aps_tag tag,
                        int count, int values[]);
int aps_agreement_end(struct aps_agreement *agreement);

/* --- on a communicator of the program ------------------------------------- */

/*
 * Agreements on a communicator of the program, by nonblocking collective calls,
 * which never match the program's messages. COLLECTIVE over comm;
 * aps_agree_comm_begin is local, but counts as a nonblocking collective call.
 *
 * It combines values[count] in place. If MPI fails, the error handler of comm
 * is called, unless aps_errhandler_push has replaced it, and the rank prints a
 * line. Returns an MPI error code.
 */
int aps_agree_comm_begin(MPI_Comm comm, int count, void *values,
                         MPI_Datatype type, MPI_Op op, MPI_Request *request);

/* COLLECTIVE over comm. Sets *good to true on all ranks if it is true on all
 * ranks, like aps_agree_all. Calls `tell` once after ten seconds of waiting;
 * NULL: calls nothing. */
int aps_agree_comm_all(MPI_Comm comm, bool *good, void (*tell)(void));

#endif
