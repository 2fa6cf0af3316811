/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exchange of messages whose lengths only their senders know. Each has at least
 * one byte, and says itself where it ends; where the longest one would not fit in a
 * message of MPI, all travel in so many parts, behind their length.
 */
#ifndef APS_PMPI_COMPRESSED_VARLEN_EXCHANGE_H
#define APS_PMPI_COMPRESSED_VARLEN_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "block/block.h"
#include "cut/exchange.h"

/* In memory a message has this before its bytes. */
struct aps_varlen_header {
    uint64_t length; /* bytes that follow */
    uint64_t unused; /* they begin at a multiple of 16 */
};

/* From one message of up to `most` bytes to the next. */
size_t aps_varlen_stride(size_t most);

struct aps_varlen_exchange {
    struct aps_exchange *exchange;
    size_t most;         /* bytes of one, the same on all ranks */
    int senders;         /* the first so many ranks send ... */
    int receivers;       /* ... to the first so many */
    unsigned char *to;   /* rank i's at to + i * to_stride */
    size_t to_stride;    /* 0: all get the same */
    unsigned char *from; /* [size * aps_varlen_stride(most)]; this rank's is
                            left as it is */
};

static inline unsigned char *aps_varlen_bytes(unsigned char *varlen,
                                              size_t stride, int rank)
{
    return varlen + (size_t)rank * stride + sizeof(struct aps_varlen_header);
}

/* `length` of at most `most` bytes have been written to aps_varlen_bytes: it is
 * made as long as parcels have to be. */
void aps_varlen_set_length(unsigned char *varlen, size_t most, int rank,
                           size_t length);

/* COLLECTIVE over the exchange's communicator. Also after an error, in as many
 * parts as on other ranks. An MPI error code; without one all of `from` has
 * come. */
int aps_varlen_exchange_run(const struct aps_varlen_exchange *varlen,
                            struct aps_cost *cost);

#endif
