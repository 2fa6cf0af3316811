/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounce buffers for calls with buffers in GPU memory that pass through to an
 * MPI which is not CUDA-aware. MPI gets bounce buffers in host memory, which
 * the backend pins if it can, and the library copies the values that MPI writes
 * there back to GPU memory. Each rank decides by itself, since the call of MPI
 * is the same.
 */
#ifndef APS_PMPI_DEVICE_BOUNCE_H
#define APS_PMPI_DEVICE_BOUNCE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/gpu_driver.h"

/* Buffers of a call that lie in GPU memory. */
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

/* The bounce buffer of one buffer; {0}: the buffer needs none. */
struct aps_stand_in {
    void *device; /* the first byte that MPI may touch */
    void *host;
    size_t bytes;
};

/* State of one call. */
struct aps_bounce {
    const char *name; /* name of the call, for messages; not owned */
    int rank;         /* rank in comm, for messages; -1: unknown */
    MPI_Comm comm;
    /* Buffers for MPI: bounce buffers in place of buffers in GPU memory.
     * Buffers in host memory are the program's; if an argument is wrong, all
     * buffers are. */
    const void *send;
    void *receive;
    struct aps_stand_in from, to;
    char cause[256]; /* reason why a copy failed, or "" */
};

/* Number of calls of this process with a buffer that could not be copied. */
extern atomic_ulong aps_bounce_failures;

/* True if a call with such buffers needs bounce buffers: one of them is in GPU
 * memory, and MPI is not CUDA-aware. */
bool aps_bounce_is_wanted_by(struct aps_gpu_buffers gpu);

/* True if a few instructions show that no bounce buffer is needed, as for most
 * buffers in host memory. */
static inline bool aps_bounce_is_needless(const void *send, const void *receive)
{
    return aps_gpu_driver_was_missing() || (aps_gpu_driver_cannot_own(send) &&
                                            aps_gpu_driver_cannot_own(receive));
}

/*
 * Local. Makes the bounce buffers of a call on `comm`, before the call. The
 * call reads `send_count` elements at `send`, or, if `send` is MPI_IN_PLACE,
 * `count` elements at `receive`. It writes `count` elements at `receive`. A
 * buffer without elements needs no bounce buffer.
 *
 * Returns 0, or MPI_ERR_NO_MEM after comm's error handler has been called.
 * After an error aps_bounce_end is not needed, but allowed. If a copy fails,
 * MPI gets zeros, because other ranks need the call.
 */
int aps_bounce_begin(struct aps_bounce *bounce, const char *name, MPI_Comm comm,
                     struct aps_gpu_buffers gpu, const void *send,
                     int64_t send_count, MPI_Datatype send_type, void *receive,
                     int64_t count, MPI_Datatype type);

/* Local. Copies the values that the call wrote back, and frees the bounce
 * buffers. Must be called after the call, which returned `rc`. Returns rc, or
 * MPI_ERR_OTHER if a copy failed, which is also reported. */
int aps_bounce_end(struct aps_bounce *bounce, int rc);

/* Local. Ends the call like aps_bounce_end. Also calls comm's error handler if
 * a copy failed. */
int aps_bounce_end_call(struct aps_bounce *bounce, int rc);

/*
 * Local. Replaces aps_bounce_end after a nonblocking call whose MPI_Request is
 * *inner. Makes *request, an MPI_Request for the program, which completes once
 * the results have been copied back. Takes over the bounce buffers. Returns an
 * MPI error code. After an error MPI's request is complete, since the function
 * has waited for it.
 */
int aps_bounce_defer(const struct aps_bounce *bounce, const MPI_Request *inner,
                     MPI_Request *request);

/* True if aps_bounce_defer can be used. If MPI's calls cannot drive requests of
 * the library, it needs a progress thread, and thus MPI_THREAD_MULTIPLE. */
bool aps_bounce_can_defer(void);

#endif
