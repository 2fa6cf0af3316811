/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/handoff.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cache.h"
#include "base/clock.h"
#include "codec/stream.h"

/* One of so many chunks is measured: not always the first one of a call, which finds
 * other caches than the others. */
#define CHUNKS 13

/* So many lines are written by ordinary stores and as many by streaming ones, until
 * others can see them. On an EPYC (Zen 4) ordinary ones take more than 9/8 of the time
 * of streaming ones 4 times of 100 with a cache in common, and 93 times without: two
 * measurements in a row decide. */
#define LINES ((size_t)30)
#define SLOW(store, stream) (8 * (store) > 9 * (stream))

/* Both parts lie between lines that are stored to before: a page that is new is not
 * measured. */
#define PART ((LINES + 2) * APS_CACHE_LINE)

/* From now on, unless there is no memory for it. */
static void handoff_begin_to_stream(struct aps_handoff *handoff)
{
    if (!handoff->scratch)
        handoff->scratch = malloc(handoff->room);
    handoff->streams = handoff->scratch != NULL;
}

void aps_handoff_init(struct aps_handoff *handoff, size_t room)
{
    const enum aps_cache_handoff wanted = aps_cache_handoff();

    *handoff = (struct aps_handoff){
        .room = room, .measures = wanted == APS_CACHE_HANDOFF_AUTO};
    if (wanted == APS_CACHE_HANDOFF_STREAM)
        handoff_begin_to_stream(handoff);
}

void aps_handoff_clear(struct aps_handoff *handoff)
{
    free(handoff->scratch);
    handoff->scratch = NULL;
    handoff->streams = false;
}

/* To LINES lines. */
static void handoff_store(unsigned char *to, const unsigned char *values)
{
    memcpy(to, values, LINES * APS_CACHE_LINE);
}

static void handoff_stream(unsigned char *to, const unsigned char *values)
{
    aps_stream_copy(to, values, LINES * APS_CACHE_LINE);
}

/* Nanoseconds until others can see what `write` has written to a part. */
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

void aps_handoff_judge(struct aps_handoff *handoff, int64_t store_ns,
                       int64_t stream_ns)
{
    const bool slow = SLOW(store_ns, stream_ns);

    if (slow == handoff->streams) {
        handoff->doubted = false;
    } else if (!handoff->doubted) {
        handoff->doubted = true;
    } else {
        handoff->doubted = false;
        if (slow)
            handoff_begin_to_stream(handoff);
        else
            handoff->streams = false;
    }
    handoff->chunks = handoff->doubted ? 0 : CHUNKS - 1;
}

void aps_handoff_begin(struct aps_handoff *handoff, unsigned char *to,
                       size_t bytes)
{
    int64_t store_ns;

    if (!handoff->measures || bytes < 2 * PART)
        return;
    if (handoff->chunks > 0) {
        handoff->chunks--;
        return;
    }
    store_ns = handoff_time(to, handoff_store);
    aps_handoff_judge(handoff, store_ns,
                      handoff_time(to + PART, handoff_stream));
}

unsigned char *aps_handoff_make(const struct aps_handoff *handoff,
                                unsigned char *to)
{
    return handoff->streams ? handoff->scratch : to;
}

void aps_handoff_pass(const struct aps_handoff *handoff, unsigned char *to,
                      size_t bytes)
{
    if (handoff->streams)
        aps_stream_copy(to, handoff->scratch, bytes);
}

void aps_handoff_copy(const struct aps_handoff *handoff, unsigned char *to,
                      const void *from, size_t bytes)
{
    if (handoff->streams)
        aps_stream_copy(to, from, bytes);
    else
        memcpy(to, from, bytes);
}
