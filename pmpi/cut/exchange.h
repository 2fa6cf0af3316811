/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exchange of bytes between all ranks: each has something for every other
 * (all-to-all), or the same for all others (all-to-everyone). It knows nothing
 * of what the bytes are. Ranks send to their neighbours first, so that not all
 * of them send to one.
 */
#ifndef APS_PMPI_CUT_EXCHANGE_H
#define APS_PMPI_CUT_EXCHANGE_H

#include <stddef.h>

#include "message/messages.h"
#include "message/vcomm.h"

struct aps_exchange {
    enum aps_tag tag;
    struct aps_messages messages;
};

/* Over vcomm, which outlives it; *outcome is as in messages.h. 0, or -1: out of
 * memory. */
int aps_exchange_init(struct aps_exchange *exchange,
                      const struct aps_vcomm *vcomm, enum aps_tag tag,
                      int *outcome);

/* Zeros, or one that has been cleared: nothing. */
void aps_exchange_clear(struct aps_exchange *exchange);

/* The i-th rank to send to, for i from 1 to vcomm->size - 1; after them comes
 * this rank itself. */
static inline int aps_exchange_peer(const struct aps_exchange *exchange, int i)
{
    const struct aps_vcomm *vcomm = exchange->messages.vcomm;

    return (vcomm->rank + i) % vcomm->size;
}

/* Be ready for size_of(state, i) bytes of every other rank i, at bytes + i *
 * stride; of 0 bytes: nothing comes. */
void aps_exchange_receive(struct aps_exchange *exchange, unsigned char *bytes,
                          size_t stride,
                          size_t (*size_of)(const void *state, int rank),
                          const void *state);

/* The same for as many bytes of each. */
void aps_exchange_receive_alike(struct aps_exchange *exchange,
                                unsigned char *bytes, size_t stride,
                                size_t size);

/* To one other rank, or the same to all others. */
void aps_exchange_send(struct aps_exchange *exchange, int to,
                       const unsigned char *bytes, size_t size);
void aps_exchange_send_all(struct aps_exchange *exchange,
                           const unsigned char *bytes, size_t size);

/* Until all of it is complete. *outcome. */
int aps_exchange_wait(struct aps_exchange *exchange);

/* Messages of any length: a message between every two ranks. */
struct aps_exchanged {
    const unsigned char *outgoing; /* to rank i: from i * outgoing_stride on */
    size_t outgoing_stride;        /* 0: the same to all */
    unsigned char *incoming; /* from rank i: from i * incoming_stride on */
    size_t incoming_stride;
    /* Bytes to a rank, and from it. */
    size_t (*sent)(const void *state, int to);
    size_t (*received)(const void *state, int from);
    /* Make the message to a rank, before it is sent. NULL: it is made. */
    void (*make)(const void *state, int to);
    const void *state;
    size_t longest; /* bytes of the longest message between any two ranks */
};

/* COLLECTIVE over vcomm. They travel in parts, which MPI can count in an int:
 * as many on all ranks, also after an error. *outcome. */
int aps_exchange_run(struct aps_exchange *exchange,
                     const struct aps_exchanged *what);

#endif
