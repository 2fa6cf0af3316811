/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a rank writes shared memory that another core has read and reads again. A store
 * to such a line waits until that core has given it up. Where both cores have a cache
 * in common, that takes less time than an encoder needs for a line of codes, and the
 * reader finds the line in the cache. Where they have none, as on two chiplets of an
 * EPYC, it takes a few times the encoder's; streaming stores, which wait for nobody and
 * leave lines in memory, do not. Nanoseconds a line, where 512 KiB are copied:
 *
 *                                         written          read
 *                                      store  stream   store  stream
 *   AMD EPYC (Zen 4), a cache in common   7      2       0.8    1.8
 *   ... none                             36      2       2.5    1.8
 *   Intel Emerald Rapids                  4      7       2.9    3.5
 *
 * For each reader a rank finds out for itself, by a few stores of both kinds now and
 * then, since bindings and virtual machines hide where ranks run, and may move them. A
 * measurement includes the wait until others can see the stores. Of so few lines that
 * wait is most of the time of streaming stores, so that they are faster only where the
 * reader's core is far away. Only time depends on it, so that ranks may differ.
 */
#ifndef APS_PMPI_GROUP_STORE_SELECTOR_H
#define APS_PMPI_GROUP_STORE_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aps_store_selector {
    bool *readers; /* [count]: to which it streams; NULL: none is measured */
    int count;
    int self; /* number of this rank, which is no reader for itself */
    int next; /* whom the next measurement is of */
    bool
        pending_change; /* the last one was against what is done; it is repeated */
    unsigned eager;     /* measurements to come without a pause between them */
    unsigned chunks;    /* until the next one */
    bool streams;       /* to a reader, or to all, whatever is measured */
    /* Room for a block: what streams is made here. NULL: nothing will. */
    unsigned char *scratch;
};

/* In the place of a reader: all of them read it. */
#define APS_STORE_SELECTOR_ALL (-1)

/* As APSMPI_HANDOFF says; by ordinary stores where there is no memory for others.
 * `self` is this rank's number among the readers, if it is one: it hands nothing over
 * to itself. `room`: bytes of a block, at most. No other function allocates. */
void aps_store_selector_init(struct aps_store_selector *handoff, int readers,
                             int self, size_t room);
void aps_store_selector_clear(struct aps_store_selector *handoff);

/* Once a chunk: the reader that is to be measured before any of the chunk is written,
 * or -1. And its measurement: to[bytes] in shared memory is what this rank will write
 * for it next, and may be overwritten with anything before; too few tell nothing. */
int aps_store_selector_next(struct aps_store_selector *handoff);
void aps_store_selector_measure(struct aps_store_selector *handoff, int reader,
                                unsigned char *to, size_t bytes);

/* What becomes of a measurement, the times of as many stores of both kinds. For
 * aps_store_selector_measure, and for tests. */
void aps_store_selector_update(struct aps_store_selector *handoff, int reader,
                               int64_t store_ns, int64_t stream_ns);

/* Does what this reader reads pass the caches? */
bool aps_store_selector_streams(const struct aps_store_selector *handoff,
                                int reader);

/* Where a block is to be made that goes to `to`, in this rank's memory or `to` itself;
 * and what brings its `bytes` there. One at a time. */
unsigned char *aps_store_selector_make(const struct aps_store_selector *handoff,
                                       int reader, unsigned char *to);
void aps_store_selector_pass(const struct aps_store_selector *handoff,
                             int reader, unsigned char *to, size_t bytes);

/* to[bytes] = from[bytes], host memory that is the rank's own. */
void aps_store_selector_copy(const struct aps_store_selector *handoff,
                             int reader, unsigned char *to, const void *from,
                             size_t bytes);

#endif
