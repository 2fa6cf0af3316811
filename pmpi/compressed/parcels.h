/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exchange of messages whose lengths only their senders know. Each has at least
 * one byte, and says itself where it ends; where the longest one would not fit in a
 * message of MPI, all travel in so many parts, behind their length.
 */
#ifndef APS_PMPI_COMPRESSED_PARCELS_H
#define APS_PMPI_COMPRESSED_PARCELS_H

#include <stddef.h>
#include <stdint.h>

#include "block/block.h"
#include "cut/exchange.h"

/* In memory a parcel has this before its bytes. */
struct aps_parcel {
    uint64_t length; /* bytes that follow */
    uint64_t unused; /* they begin at a multiple of 16 */
};

/* From one parcel of up to `most` bytes to the next. */
size_t aps_parcels_stride(size_t most);

struct aps_parcels {
    struct aps_exchange *exchange;
    size_t most;         /* bytes of one, the same on all ranks */
    int senders;         /* the first so many ranks send ... */
    int receivers;       /* ... to the first so many */
    unsigned char *to;   /* rank i's at to + i * to_stride */
    size_t to_stride;    /* 0: all get the same */
    unsigned char *from; /* [size * aps_parcels_stride(most)]; this rank's is
                            left as it is */
};

static inline unsigned char *aps_parcel_bytes(unsigned char *parcels,
                                              size_t stride, int rank)
{
    return parcels + (size_t)rank * stride + sizeof(struct aps_parcel);
}

/* `length` of at most `most` bytes have been written to aps_parcel_bytes: it is
 * made as long as parcels have to be. */
void aps_parcel_close(unsigned char *parcels, size_t most, int rank,
                      size_t length);

/* COLLECTIVE over the exchange's communicator. Also after an error, in as many
 * parts as on other ranks. An MPI error code; without one all of `from` has
 * come. */
int aps_parcels_exchange(const struct aps_parcels *parcels,
                         struct aps_cost *cost);

#endif
