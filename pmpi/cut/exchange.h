/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchange of bytes between all ranks: each rank sends a message to every other
 * rank (all-to-all), or the same bytes to all others (all-to-everyone). It does
 * not interpret the bytes. Ranks send to their neighbours first, so that not
 * all of them send to one rank.
 */
#ifndef APS_PMPI_CUT_EXCHANGE_H
#define APS_PMPI_CUT_EXCHANGE_H

#include <stddef.h>

#include "block/block.h"
#include "message/messages.h"
#include "message/vcomm.h"

struct aps_exchange {
    enum aps_tag tag;
    struct aps_messages messages;
};

/* Local. Prepares exchanges over vcomm, which must outlive *exchange. *outcome
 * is as in messages.h. Returns 0, or -1 if memory is missing. */
int aps_exchange_init(struct aps_exchange *exchange,
                      const struct aps_vcomm *vcomm, enum aps_tag tag,
                      int *outcome);

/* Local. Frees the exchange. Zeros, and an exchange that was cleared before,
 * are allowed. */
void aps_exchange_clear(struct aps_exchange *exchange);

/* Returns the i-th rank to send to, for i from 1 to vcomm->size - 1; for
 * vcomm->size returns this rank. */
static inline int aps_exchange_peer(const struct aps_exchange *exchange, int i)
{
    const struct aps_vcomm *vcomm = exchange->messages.vcomm;

    return (vcomm->rank + i) % vcomm->size;
}

/* Starts to receive size_of(state, i) bytes from every other rank i, to bytes +
 * i * stride. From a rank with 0 bytes no message is received. */
void aps_exchange_receive(struct aps_exchange *exchange, unsigned char *bytes,
                          size_t stride,
                          size_t (*size_of)(const void *state, int rank),
                          const void *state);

/* Starts to receive `size` bytes from every other rank i, to bytes + i *
 * stride. */
void aps_exchange_receive_alike(struct aps_exchange *exchange,
                                unsigned char *bytes, size_t stride,
                                size_t size);

/* Start to send bytes to one other rank, or the same bytes to all others. */
void aps_exchange_send(struct aps_exchange *exchange, int to,
                       const unsigned char *bytes, size_t size);
void aps_exchange_send_all(struct aps_exchange *exchange,
                           const unsigned char *bytes, size_t size);

/* Waits until all messages are complete. Returns *outcome. */
int aps_exchange_wait(struct aps_exchange *exchange);

/* Messages of any length, one between every two ranks: each rank scatters slices to
 * their owners, or sends its own slice to all ranks. */
struct aps_exchanged {
    /* message to rank i: from i * stride on; NULL if this rank's part of `incoming`
     * goes to all ranks */
    unsigned char *outgoing;
    /* message from rank i, also from this rank: from i * stride on */
    unsigned char *incoming;
    size_t
        stride; /* size of the longest message between any two ranks, in bytes */
    /* Returns the bytes of a message with the slice of `owner`: its receiver if the
     * ranks scatter, and otherwise its sender. */
    size_t (*bytes)(const void *state, int owner);
    /* Makes the message with the slice of `owner`, before it is sent; this rank's own
     * first, in `incoming`. NULL if all messages exist already. */
    void (*make)(const void *state, int owner, unsigned char *message);
    const void *state;
};

/* COLLECTIVE over vcomm. Sends the messages in parts, which MPI can count in an
 * int. The number of parts is equal on all ranks, also after an error. Adds the bytes
 * that this rank sends to cost->wire_bytes. Returns *outcome. */
int aps_exchange_run(struct aps_exchange *exchange,
                     const struct aps_exchanged *what, struct aps_cost *cost);

#endif
