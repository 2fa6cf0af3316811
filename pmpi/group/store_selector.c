/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "group/store_selector.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cache.h"
#include "base/clock.h"
#include "codec/stream.h"

/* After two measurements of each reader, one chunk of CHUNKS is measured. The
 * number is odd so that the measured chunk is not always the first of a call,
 * which finds other data in the caches than the rest. */
#define CHUNKS 13

/* Number of lines that one measurement writes with each kind of store, until
 * other cores can see them. On an EPYC (Zen 4) ordinary stores take more than
 * 9/8 of the time of streaming ones in 4 of 100 measurements with a cache in
 * common, and in 93 without. Two consecutive measurements decide. */
#define LINES ((size_t)30)
#define SLOW(store, stream) (8 * (store) > 9 * (stream))

/* Size of one measurement's memory. Lines before and after the measured ones
 * are stored to first, so that the page faults of a new page are not
 * measured. */
#define PART ((LINES + 2) * APS_CACHE_LINE)

/* Returns the first reader from number `i` on, cyclically, that is not this
 * rank. */
static int handoff_reader_from(const struct aps_store_selector *handoff, int i)
{
    if (i == handoff->self)
        i++;
    if (i < handoff->count)
        return i;
    return handoff->self == 0 ? 1 : 0;
}

void aps_store_selector_init(struct aps_store_selector *handoff, int readers,
                             int self, size_t room)
{
    const enum aps_cache_handoff wanted = aps_cache_handoff();
    const int others = readers - (self < readers);

    *handoff = (struct aps_store_selector){
        .count = readers, .self = self, .eager = 2 * (unsigned)others};
    handoff->next = handoff_reader_from(handoff, 0);
    if (wanted == APS_CACHE_HANDOFF_STORE)
        return;
    /* The only allocations: steps allocate nothing. */
    handoff->scratch = malloc(room);
    if (!handoff->scratch)
        return;
    handoff->streams = wanted == APS_CACHE_HANDOFF_STREAM;
    if (wanted == APS_CACHE_HANDOFF_AUTO && others > 0)
        handoff->readers = calloc((size_t)readers, sizeof *handoff->readers);
}

void aps_store_selector_clear(struct aps_store_selector *handoff)
{
    free(handoff->readers);
    free(handoff->scratch);
    *handoff = (struct aps_store_selector){0};
}

/* Writes LINES lines by ordinary stores. */
static void handoff_store(unsigned char *to, const unsigned char *values)
{
    memcpy(to, values, LINES * APS_CACHE_LINE);
}

static void handoff_stream(unsigned char *to, const unsigned char *values)
{
    aps_stream_copy(to, values, LINES * APS_CACHE_LINE);
}

/* Returns the nanoseconds until other cores can see the lines that `write` has
 * written. */
static int64_t handoff_time(unsigned char *part,
                            void (*write)(unsigned char *to,
                                          const unsigned char *values))
{
    unsigned char values[LINES * APS_CACHE_LINE] = {0}; /* in the cache */
    int64_t start;

    part[0] = part[PART - 1] = 0;
    atomic_thread_fence(memory_order_seq_cst);
    start = aps_clock_ns(CLOCK_MONOTONIC);
    write(part + APS_CACHE_LINE, values);
    atomic_thread_fence(memory_order_seq_cst);
    return aps_clock_ns(CLOCK_MONOTONIC) - start;
}

static bool handoff_streams_to_one(const struct aps_store_selector *handoff)
{
    for (int i = 0; i < handoff->count; i++)
        if (handoff->readers[i])
            return true;
    return false;
}

/* Moves the measurement to the next reader. */
static void handoff_turn_from(struct aps_store_selector *handoff, int reader)
{
    handoff->pending_change = false;
    handoff->next = handoff_reader_from(handoff, reader + 1);
}

void aps_store_selector_update(struct aps_store_selector *handoff, int reader,
                               int64_t store_ns, int64_t stream_ns)
{
    const bool slow = SLOW(store_ns, stream_ns);

    if (slow != handoff->readers[reader] && !handoff->pending_change) {
        handoff->pending_change = true;
        return;
    }
    handoff->readers[reader] = slow;
    handoff->streams = handoff_streams_to_one(handoff);
    handoff_turn_from(handoff, reader);
    if (handoff->eager > 0)
        handoff->eager--;
    else
        handoff->chunks = CHUNKS - 1;
}

int aps_store_selector_next(struct aps_store_selector *handoff)
{
    if (!handoff->readers)
        return -1;
    if (handoff->chunks > 0) {
        handoff->chunks--;
        return -1;
    }
    return handoff->next;
}

void aps_store_selector_measure(struct aps_store_selector *handoff, int reader,
                                unsigned char *to, size_t bytes)
{
    int64_t store_ns;

    if (bytes < 2 * PART) {
        handoff_turn_from(handoff, reader);
        return;
    }
    store_ns = handoff_time(to, handoff_store);
    aps_store_selector_update(handoff, reader, store_ns,
                              handoff_time(to + PART, handoff_stream));
}

bool aps_store_selector_streams(const struct aps_store_selector *handoff,
                                int reader)
{
    return handoff->readers && reader != APS_STORE_SELECTOR_ALL
               ? handoff->readers[reader]
               : handoff->streams;
}

unsigned char *aps_store_selector_make(const struct aps_store_selector *handoff,
                                       int reader, unsigned char *to)
{
    return aps_store_selector_streams(handoff, reader) ? handoff->scratch : to;
}

void aps_store_selector_pass(const struct aps_store_selector *handoff,
                             int reader, unsigned char *to, size_t bytes)
{
    if (aps_store_selector_streams(handoff, reader))
        aps_stream_copy(to, handoff->scratch, bytes);
}

void aps_store_selector_copy(const struct aps_store_selector *handoff,
                             int reader, unsigned char *to, const void *from,
                             size_t bytes)
{
    if (aps_store_selector_streams(handoff, reader))
        aps_stream_copy(to, from, bytes);
    else
        memcpy(to, from, bytes);
}
