/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cut/exchange.h"

#include "block/block.h"

int aps_exchange_init(struct aps_exchange *exchange,
                      const struct aps_vcomm *vcomm, enum aps_tag tag,
                      int *outcome)
{
    exchange->tag = tag;
    return aps_messages_init(&exchange->messages, vcomm, 2 * vcomm->size,
                             outcome);
}

void aps_exchange_clear(struct aps_exchange *exchange)
{
    aps_messages_clear(&exchange->messages);
}

void aps_exchange_receive(struct aps_exchange *exchange, unsigned char *bytes,
                          size_t stride,
                          size_t (*size_of)(const void *state, int rank),
                          const void *state)
{
    const struct aps_vcomm *vcomm = exchange->messages.vcomm;

    for (int i = 1; i < vcomm->size; i++) {
        const int from = (vcomm->rank + vcomm->size - i) % vcomm->size;

        aps_messages_receive(&exchange->messages, bytes + (size_t)from * stride,
                             size_of(state, from), from, exchange->tag);
    }
}

static size_t exchange_alike(const void *state, int rank)
{
    (void)rank;
    return *(const size_t *)state;
}

void aps_exchange_receive_alike(struct aps_exchange *exchange,
                                unsigned char *bytes, size_t stride,
                                size_t size)
{
    aps_exchange_receive(exchange, bytes, stride, exchange_alike, &size);
}

void aps_exchange_send(struct aps_exchange *exchange, int to,
                       const unsigned char *bytes, size_t size)
{
    aps_messages_send(&exchange->messages, bytes, size, to, exchange->tag);
}

void aps_exchange_send_all(struct aps_exchange *exchange,
                           const unsigned char *bytes, size_t size)
{
    for (int i = 1; i < exchange->messages.vcomm->size; i++)
        aps_exchange_send(exchange, aps_exchange_peer(exchange, i), bytes,
                          size);
}

int aps_exchange_wait(struct aps_exchange *exchange)
{
    return aps_messages_wait(&exchange->messages);
}

/* Largest size of a part, in bytes. */
#define PART ((size_t)1 << 24)

/* Returns part i of a message of `size` bytes. A part beyond its end is empty,
 * and is not sent. */
static struct aps_slice exchange_part(size_t size, size_t i)
{
    const size_t begin = size / PART < i ? size : i * PART;

    return (struct aps_slice){begin, size - begin < PART ? size - begin : PART};
}

/* Returns the offset of a rank's part in the buffer, or 0 for an empty part,
 * whose offset may lie outside. */
static size_t exchange_place(int rank, size_t stride,
                             const struct aps_slice *part)
{
    return part->length > 0 ? (size_t)rank * stride + part->begin : 0;
}

/* Makes the message with the slice of `owner` at its place in `to`. */
static void exchange_make(const struct aps_exchanged *what, int owner,
                          unsigned char *to)
{
    if (what->make && what->bytes(what->state, owner) > 0)
        what->make(what->state, owner, to + (size_t)owner * what->stride);
}

int aps_exchange_run(struct aps_exchange *exchange,
                     const struct aps_exchanged *what, struct aps_cost *cost)
{
    const struct aps_vcomm *vcomm = exchange->messages.vcomm;
    const size_t parts = what->stride / PART + 1;
    int rc = MPI_SUCCESS;

    exchange_make(what, vcomm->rank, what->incoming);
    for (size_t i = 0; i < parts; i++) {
        for (int k = 1; k < vcomm->size; k++) {
            const int from = (vcomm->rank + vcomm->size - k) % vcomm->size;
            const struct aps_slice part = exchange_part(
                what->bytes(what->state, what->outgoing ? vcomm->rank : from),
                i);

            aps_messages_receive(&exchange->messages,
                                 what->incoming +
                                     exchange_place(from, what->stride, &part),
                                 part.length, from, exchange->tag);
        }
        for (int k = 1; k < vcomm->size; k++) {
            const int to = aps_exchange_peer(exchange, k);
            const int owner = what->outgoing ? to : vcomm->rank;
            const unsigned char *bytes =
                what->outgoing ? what->outgoing : what->incoming;
            const struct aps_slice part =
                exchange_part(what->bytes(what->state, owner), i);

            if (i == 0 && what->outgoing)
                exchange_make(what, to, what->outgoing);
            aps_exchange_send(exchange, to,
                              bytes +
                                  exchange_place(owner, what->stride, &part),
                              part.length);
            cost->wire_bytes += part.length;
        }
        rc = aps_exchange_wait(exchange);
    }
    return rc;
}
