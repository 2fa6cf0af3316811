/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compressed/parcels.h"

#include <string.h>

/* Bytes of a part, about: MPI counts them in an int. */
#define PART ((size_t)1 << 24)

#define LENGTH sizeof(struct aps_parcel)

size_t aps_parcels_stride(size_t most)
{
    return LENGTH + aps_block_aligned(most);
}

static size_t parcels_parts(size_t most)
{
    return most / PART + 1;
}

/* A byte; and of several parts the first one has all of the length, by which the
 * receiver finds the others. */
static size_t parcels_least(size_t most)
{
    const size_t parts = parcels_parts(most);

    return parts == 1 ? 1 : parts * sizeof(uint64_t);
}

void aps_parcel_close(unsigned char *parcels, size_t most, int rank,
                      size_t length)
{
    const size_t stride = aps_parcels_stride(most);
    const size_t least = parcels_least(most);
    const struct aps_parcel parcel = {.length =
                                          length < least ? least : length};

    if (length < least)
        memset(aps_parcel_bytes(parcels, stride, rank) + length, 0,
               least - length);
    memcpy(parcels + (size_t)rank * stride, &parcel, sizeof parcel);
}

static size_t parcels_length(const unsigned char *parcel)
{
    struct aps_parcel head;

    memcpy(&head, parcel, sizeof head);
    return (size_t)head.length;
}

/* Of a parcel that travels in `parts`: what goes as part i. */
struct part {
    size_t begin, length;
};

static struct part parcels_part(size_t length, size_t parts, size_t i)
{
    const size_t size = LENGTH + length;
    struct part part = {i * (size / parts), size / parts};

    if (parts == 1)
        return (struct part){LENGTH, length};
    if (i + 1 == parts)
        part.length = size - part.begin;
    return part;
}

static void parcels_receive(const struct aps_parcels *parcels, size_t parts,
                            size_t i)
{
    struct aps_messages *messages = &parcels->exchange->messages;
    const struct aps_vcomm *vcomm = messages->vcomm;
    const size_t stride = aps_parcels_stride(parcels->most);

    if (vcomm->rank >= parcels->receivers)
        return;
    for (int k = 1; k < vcomm->size; k++) {
        const int rank = (vcomm->rank + vcomm->size - k) % vcomm->size;
        unsigned char *parcel = parcels->from + (size_t)rank * stride;
        struct part part = {0, 0};
        size_t room;

        if (rank >= parcels->senders)
            continue;
        /* What has come of it says where the next part begins; after an error
         * it may be anything. */
        if (parts == 1)
            part.begin = LENGTH;
        else if (i > 0 && parcels_length(parcel) <= parcels->most)
            part = parcels_part(parcels_length(parcel), parts, i);
        room = stride - part.begin;
        aps_messages_receive_some(messages, parcel + part.begin,
                                  room < 2 * PART ? room : 2 * PART, rank,
                                  parcels->exchange->tag);
    }
}

static void parcels_send(const struct aps_parcels *parcels, size_t parts,
                         size_t i, struct aps_cost *cost)
{
    const struct aps_vcomm *vcomm = parcels->exchange->messages.vcomm;

    if (vcomm->rank >= parcels->senders)
        return;
    for (int k = 1; k < vcomm->size; k++) {
        const int rank = aps_exchange_peer(parcels->exchange, k);
        const unsigned char *parcel =
            parcels->to + (size_t)rank * parcels->to_stride;
        struct part part;

        if (rank >= parcels->receivers)
            continue;
        part = parcels_part(parcels_length(parcel), parts, i);
        aps_exchange_send(parcels->exchange, rank, parcel + part.begin,
                          part.length);
        cost->wire_bytes += part.length;
    }
}

int aps_parcels_exchange(const struct aps_parcels *parcels,
                         struct aps_cost *cost)
{
    const size_t parts = parcels_parts(parcels->most);
    int rc = *parcels->exchange->messages.outcome;

    for (size_t i = 0; i < parts; i++) {
        parcels_receive(parcels, parts, i);
        parcels_send(parcels, parts, i, cost);
        rc = aps_exchange_wait(parcels->exchange);
    }
    return rc;
}
