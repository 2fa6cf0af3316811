/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounce buffers: where an MPI does not take a GPU's memory, a call that goes on
 * to it gets host memory in the place of such a buffer, page-locked where the
 * memory backend can lock it, and what MPI leaves there is copied back. Each rank
 * does this by itself; MPI sees the same call.
 *
 * No mpi.h here: native/next_mpi.h says why.
 */
#ifndef APS_PMPI_DEVICE_BOUNCE_H
#define APS_PMPI_DEVICE_BOUNCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/gpu_driver.h"
#include "native/next_mpi.h"

/* Which of a call's buffers are in a GPU's memory. */
struct aps_gpu_buffers {
    bool send;
    bool receive;
};

static inline struct aps_gpu_buffers aps_gpu_buffers_of(const void *send,
                                                        const void *receive)
{
    return (struct aps_gpu_buffers){aps_gpu_driver_owns(send),
                                    aps_gpu_driver_owns(receive)};
}

/* The host memory that stands in for one buffer; {0}: none does. */
struct aps_stand_in {
    void *device; /* the first byte that MPI may touch */
    void *host;
    size_t bytes;
};

/* One call. */
struct aps_bounce {
    const char *name; /* of the call, for messages */
    int rank;         /* for messages, too */
    aps_handle comm;
    /* What MPI is to get in place of the program's buffers; those in host
     * memory, and those of wrong arguments, stay unchanged. */
    const void *send;
    void *receive;
    struct aps_stand_in from, to;
    char cause[256]; /* why a copy failed, or "" */
};

/* How many calls of this process had a buffer that could not be copied. */
extern atomic_ulong aps_bounce_failures;

/* Does a call with such buffers need bounce buffers: does this MPI not take a
 * GPU's memory? */
bool aps_bounce_is_wanted_by(struct aps_gpu_buffers gpu);

/* Is it known in a few instructions that none is? So it is for most buffers of
 * the host. */
static inline bool aps_bounce_is_needless(const void *send, const void *receive)
{
    return aps_gpu_driver_was_missing() || (aps_gpu_driver_cannot_own(send) &&
                                            aps_gpu_driver_cannot_own(receive));
}

static inline bool aps_bounce_is_wanted(const void *send, const void *receive)
{
    return !aps_bounce_is_needless(send, receive) &&
           aps_bounce_is_wanted_by(aps_gpu_buffers_of(send, receive));
}

/*
 * Local, before the call on `comm`. It reads `send_count` elements at `send`,
 * or, if that is MPI_IN_PLACE, `count` at `receive`; and writes to `count`
 * elements at `receive`. A buffer of no elements is left alone. 0, or
 * MPI_ERR_NO_MEM, of which comm's error handler knows; then there is nothing to
 * end, but one may.
 *
 * Where a copy fails MPI gets zeros: the call goes on, for the other ranks.
 */
int aps_bounce_begin(struct aps_bounce *bounce, const char *name,
                     aps_handle comm, struct aps_gpu_buffers gpu,
                     const void *send, int64_t send_count, aps_handle send_type,
                     void *receive, int64_t count, aps_handle type);

/* The same for MPI_Bcast of bytes in a GPU's memory; MPI gets bounce->send or
 * bounce->receive, which are the same. */
int aps_bounce_begin_bcast(struct aps_bounce *bounce, const char *name,
                           void *bytes, int64_t count, aps_handle type,
                           int root, aps_handle comm);

/* Local, after the call, which returned `rc`: copies back what it wrote.
 * Returns rc, or MPI_ERR_OTHER if a copy failed; then a line has said so. */
int aps_bounce_end(struct aps_bounce *bounce, int rc);

/* The same, and a copy that failed is a matter of comm's error handler, too. */
int aps_bounce_end_call(struct aps_bounce *bounce, int rc);

/*
 * A nonblocking call has been made between begin and end, of which *inner is
 * the MPI_Request: *request, another, is for the program, and is complete when
 * all has been copied back. Local; takes over what is in `bounce`. An MPI error
 * code.
 */
int aps_bounce_defer(const struct aps_bounce *bounce, const void *inner,
                     void *request);

/* Is that possible? Where MPI's own calls drive no requests of ours it takes a
 * thread, and so MPI_THREAD_MULTIPLE. */
bool aps_bounce_can_defer(void);

#endif
