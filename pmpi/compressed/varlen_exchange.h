/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchange of messages whose lengths only the senders know. A message has at
 * least one byte. If the longest
 * message does not fit in a message of MPI, all messages travel in the same
 * number of parts, after their length.
 */
#ifndef APS_PMPI_COMPRESSED_VARLEN_EXCHANGE_H
#define APS_PMPI_COMPRESSED_VARLEN_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "block/block.h"
#include "cut/exchange.h"

/* Header of a message in memory, before its bytes. */
struct aps_varlen_header {
    uint64_t length; /* bytes that follow */
    uint64_t unused; /* keeps the bytes at a multiple of 16 */
};

/* Returns the bytes from one message of up to `most` bytes to the next. */
size_t aps_varlen_stride(size_t most);

struct aps_varlen_exchange {
    struct aps_exchange *exchange;
    size_t most;         /* most bytes of one message, the same on all ranks */
    int senders;         /* number of ranks, from rank 0, that send */
    int receivers;       /* number of ranks, from rank 0, that receive */
    unsigned char *to;   /* message for rank i at to + i * to_stride */
    size_t to_stride;    /* 0: all ranks get the same message */
    unsigned char *from; /* [size * aps_varlen_stride(most)]; this rank's own is
                          * not changed */
};

/* Returns the length of the message with these bytes, which is at most `most`; 0
 * if its header is damaged. */
size_t aps_varlen_length(const unsigned char *bytes, size_t most);

static inline unsigned char *aps_varlen_bytes(unsigned char *varlen,
                                              size_t stride, int rank)
{
    return varlen + (size_t)rank * stride + sizeof(struct aps_varlen_header);
}

/* Sets the header after the caller has written `length` bytes, at most `most`,
 * to aps_varlen_bytes. A message that is too short is padded with zeros. */
void aps_varlen_set_length(unsigned char *varlen, size_t most, int rank,
                           size_t length);

/* COLLECTIVE over the exchange's communicator. After an error it still runs, in
 * as many parts as on other ranks. Returns an MPI error code; without an error
 * all of `from` has arrived, with its headers. */
int aps_varlen_exchange_run(const struct aps_varlen_exchange *varlen,
                            struct aps_cost *cost);

#endif
