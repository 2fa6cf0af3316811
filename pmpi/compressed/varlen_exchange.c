/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compressed/varlen_exchange.h"

#include <string.h>

/* Approximate bytes of a part of a message: MPI counts them in an int. */
#define PART ((size_t)1 << 24)

#define LENGTH sizeof(struct aps_varlen_header)

size_t aps_varlen_stride(size_t most)
{
    return LENGTH + aps_block_aligned(most);
}

static size_t varlen_parts(size_t most)
{
    return most / PART + 1;
}

/* Returns the least bytes of a message. If there are several parts, the first
 * part holds the length, from which the receiver finds the other parts. */
static size_t varlen_least(size_t most)
{
    const size_t parts = varlen_parts(most);

    return parts == 1 ? 1 : parts * sizeof(uint64_t);
}

void aps_varlen_set_length(unsigned char *varlen, size_t most, int rank,
                           size_t length)
{
    const size_t stride = aps_varlen_stride(most);
    const size_t least = varlen_least(most);
    const struct aps_varlen_header parcel = {.length = length < least ? least
                                                                      : length};

    if (length < least)
        memset(aps_varlen_bytes(varlen, stride, rank) + length, 0,
               least - length);
    memcpy(varlen + (size_t)rank * stride, &parcel, sizeof parcel);
}

static size_t varlen_length(const unsigned char *parcel)
{
    struct aps_varlen_header head;

    memcpy(&head, parcel, sizeof head);
    return (size_t)head.length;
}

size_t aps_varlen_length(const unsigned char *bytes, size_t most)
{
    const size_t length = varlen_length(bytes - LENGTH);

    return length <= most ? length : 0;
}

/* Part i of a message that travels in `parts` parts. */
struct part {
    size_t begin, length;
};

static struct part varlen_part(size_t length, size_t parts, size_t i)
{
    const size_t size = LENGTH + length;
    struct part part = {i * (size / parts), size / parts};

    if (parts == 1)
        return (struct part){LENGTH, length};
    if (i + 1 == parts)
        part.length = size - part.begin;
    return part;
}

static void varlen_receive(const struct aps_varlen_exchange *varlen,
                           size_t parts, size_t i)
{
    struct aps_messages *messages = &varlen->exchange->messages;
    const struct aps_vcomm *vcomm = messages->vcomm;
    const size_t stride = aps_varlen_stride(varlen->most);

    if (vcomm->rank >= varlen->receivers)
        return;
    for (int k = 1; k < vcomm->size; k++) {
        const int rank = (vcomm->rank + vcomm->size - k) % vcomm->size;
        unsigned char *parcel = varlen->from + (size_t)rank * stride;
        struct part part = {0, 0};
        size_t room;

        if (rank >= varlen->senders)
            continue;
        /* The received bytes tell where the next part begins; after an error
         * they may be anything. */
        if (parts == 1)
            part.begin = LENGTH;
        else if (i > 0 && varlen_length(parcel) <= varlen->most)
            part = varlen_part(varlen_length(parcel), parts, i);
        room = stride - part.begin;
        aps_messages_receive_some(messages, parcel + part.begin,
                                  room < 2 * PART ? room : 2 * PART, rank,
                                  varlen->exchange->tag);
    }
}

static void varlen_send(const struct aps_varlen_exchange *varlen, size_t parts,
                        size_t i, struct aps_cost *cost)
{
    const struct aps_vcomm *vcomm = varlen->exchange->messages.vcomm;

    if (vcomm->rank >= varlen->senders)
        return;
    for (int k = 1; k < vcomm->size; k++) {
        const int rank = aps_exchange_peer(varlen->exchange, k);
        const unsigned char *parcel =
            varlen->to + (size_t)rank * varlen->to_stride;
        struct part part;

        if (rank >= varlen->receivers)
            continue;
        part = varlen_part(varlen_length(parcel), parts, i);
        aps_exchange_send(varlen->exchange, rank, parcel + part.begin,
                          part.length);
        cost->wire_bytes += part.length;
    }
}

/* Takes the lengths of part i from the batch, in which varlen_receive has posted its
 * receives first. One part is the message; of several, each has the length that the
 * header says, or the message is damaged. Returns an MPI error code. */
static int varlen_take_lengths(const struct aps_varlen_exchange *varlen,
                               size_t parts, size_t i)
{
    const struct aps_messages *messages = &varlen->exchange->messages;
    const int size = messages->vcomm->size, own = messages->vcomm->rank;
    const int *next = messages->sizes;

    for (int k = 1; k < size && own < varlen->receivers; k++) {
        const int rank = (own + size - k) % size;

        const unsigned char *parcel =
            varlen->from + (size_t)rank * aps_varlen_stride(varlen->most);
        size_t came;

        if (rank >= varlen->senders)
            continue;
        came = (size_t)*next++;
        if (parts == 1)
            aps_varlen_set_length(varlen->from, varlen->most, rank, came);
        else if (came != varlen_part(varlen_length(parcel), parts, i).length)
            return MPI_ERR_OTHER;
    }
    return MPI_SUCCESS;
}

int aps_varlen_exchange_run(const struct aps_varlen_exchange *varlen,
                            struct aps_cost *cost)
{
    const size_t parts = varlen_parts(varlen->most);
    int *const rc = varlen->exchange->messages.outcome;

    for (size_t i = 0; i < parts; i++) {
        varlen_receive(varlen, parts, i);
        varlen_send(varlen, parts, i, cost);
        if (aps_exchange_wait(varlen->exchange) == MPI_SUCCESS)
            *rc = varlen_take_lengths(varlen, parts, i);
    }
    return *rc;
}
