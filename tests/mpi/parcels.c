/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages whose lengths only the senders know, in as many parts as the longest
 * one needs. A rank receives the bytes that were sent, whatever its buffer held
 * before. This program replaces MPI's messages: parts are stored in `sent`
 * until they are received.
 */
#include "config.h"

#include "compressed/varlen_exchange.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap/tap.h"

#define PARTS_MAX 16

/* Parts from rank 1 to rank 0, and the buffer that rank 0 has for the next part. */
static struct {
    unsigned char *bytes;
    size_t size;
} sent[PARTS_MAX];
static int parts_sent, parts_taken;
static unsigned char *room;
static size_t room_size;
static bool fits;

size_t aps_block_aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

void aps_messages_receive_some(struct aps_messages *messages, void *bytes,
                               size_t most, int from, enum aps_tag tag)
{
    (void)messages;
    (void)from;
    (void)tag;
    room = bytes;
    room_size = most;
}

void aps_exchange_send(struct aps_exchange *exchange, int to,
                       const unsigned char *bytes, size_t size)
{
    (void)exchange;
    (void)to;
    if (parts_sent == PARTS_MAX || size == 0)
        bail_out("a part of %zu bytes behind %d parts", size, parts_sent);
    sent[parts_sent].bytes = malloc(size);
    if (!sent[parts_sent].bytes)
        bail_out("out of memory");
    memcpy(sent[parts_sent].bytes, bytes, size);
    sent[parts_sent++].size = size;
}

int aps_exchange_wait(struct aps_exchange *exchange)
{
    if (room && parts_taken < parts_sent &&
        sent[parts_taken].size <= room_size) {
        memcpy(room, sent[parts_taken].bytes, sent[parts_taken].size);
        exchange->messages.sizes[0] = (int)sent[parts_taken].size;
        parts_taken++;
    } else if (room) {
        fits = false;
    }
    room = NULL;
    return *exchange->messages.outcome;
}

static int exchange_as(int rank, size_t most, unsigned char *parcels)
{
    int outcome = MPI_SUCCESS, received = 0;
    const struct aps_vcomm vcomm = {.rank = rank, .size = 2};
    struct aps_exchange exchange = {
        .messages = {.vcomm = &vcomm, .outcome = &outcome, .sizes = &received}};
    const struct aps_varlen_exchange what = {
        .exchange = &exchange,
        .most = most,
        .senders = 2,
        .receivers = 1,
        .to = parcels + aps_varlen_stride(most),
        .from = parcels,
    };
    struct aps_cost cost = {0};

    return aps_varlen_exchange_run(&what, &cost);
}

/* Rank 1 sends to rank 0, whose buffer was full of `before`. In several parts the
 * length travels, and `damage` is added to it. */
static void test_length(size_t most, size_t length, int before, int damage)
{
    const size_t stride = aps_varlen_stride(most);
    unsigned char *from = malloc(2 * stride), *to = malloc(2 * stride);
    unsigned char *bytes;
    int rc;

    if (!from || !to)
        bail_out("out of memory");
    bytes = aps_varlen_bytes(from, stride, 1);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)(i % 251 + 1);
    aps_varlen_set_length(from, most, 1, length);
    memset(to + stride, before,
           length + 1024 < stride ? length + 1024 : stride);
    fits = true;
    exchange_as(1, most, from);
    if (parts_sent > 1)
        sent[0].bytes[0] += (unsigned char)damage;
    rc = exchange_as(0, most, to);
    if (parts_sent > 1 && damage)
        ok(rc == MPI_ERR_OTHER, "%zu bytes of %zu with %d more in their length",
           length, most, damage);
    else
        ok(rc == MPI_SUCCESS && fits && parts_taken == parts_sent &&
               memcmp(aps_varlen_bytes(to, stride, 1), bytes, length) == 0,
           "%zu bytes of %zu, in %d parts over bytes of %d", length, most,
           parts_sent, before);
    while (parts_sent > 0)
        free(sent[--parts_sent].bytes);
    parts_taken = 0;
    free(from);
    free(to);
}

int main(void)
{
    static const size_t mosts[] = {64, (size_t)1 << 24, (size_t)2 << 24,
                                   ((size_t)3 << 24) + 12, (size_t)8 << 24};
    static const size_t lengths[] = {
        0, 1, 8, 20, 64, 1000, ((size_t)1 << 24) + 5};

    for (size_t m = 0; m < sizeof mosts / sizeof *mosts; m++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            if (lengths[l] > mosts[m])
                continue;
            test_length(mosts[m], lengths[l], 0, 0);
            test_length(mosts[m], lengths[l], 0x7f, 0);
            if (m > 0)
                test_length(mosts[m], lengths[l], 0, 64);
        }
    return done_testing();
}
