/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Store selector: chooses ordinary or streaming stores for shared memory that
 * another core has read and will read again.
 *
 * A store to such a line waits until the other core has given the line up. If
 * both cores have a cache in common, the wait is shorter than an encoder needs
 * for a line of codes, and the reader finds the line in the cache. If they have
 * none, as on two chiplets of an EPYC, the wait is several times as long as the
 * encoding. Streaming stores wait for no other core and leave the lines in
 * memory. Nanoseconds per line in a copy of 512 KiB:
 *
 *                                         written          read
 *                                      store  stream   store  stream
 *   AMD EPYC (Zen 4), a cache in common   7      2       0.8    1.8
 *   ... none                             36      2       2.5    1.8
 *   Intel Emerald Rapids                  4      7       2.9    3.5
 *
 * A rank measures some stores of both kinds for each reader from time to time,
 * because bindings and virtual machines hide where ranks run, and may move
 * them. A measurement includes the wait until other cores can see the stores.
 * With so few lines, that wait is most of the time of streaming stores, so that
 * they are faster only if the reader's core is far away. The choice affects
 * only time, so ranks may differ.
 */
#ifndef APS_PMPI_GROUP_STORE_SELECTOR_H
#define APS_PMPI_GROUP_STORE_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aps_store_selector {
    bool *readers; /* [count]: true: streams to this reader; NULL: no reader is
                    * measured */
    int count;
    int self; /* this rank's number among the readers, which is not measured */
    int next; /* reader of the next measurement */
    bool pending_change; /* the last measurement contradicted the choice; a
                          * second one must confirm */
    unsigned eager;      /* measurements to do without a pause between them */
    unsigned chunks;     /* chunks until the next measurement */
    bool streams;        /* streams to some reader, or to all if none is
                          * measured */
    /* Room for one block to be streamed; NULL: no block is streamed. */
    unsigned char *scratch;
};

/* Stands for a block that all readers read. */
#define APS_STORE_SELECTOR_ALL (-1)

/* Local. Initialises the selector as APSMPI_HANDOFF says; it uses ordinary
 * stores if memory for streaming is missing. `self` is this rank's number among
 * the readers, if it is one, and is never measured. `room`: most bytes of a
 * block. No other function allocates. */
void aps_store_selector_init(struct aps_store_selector *handoff, int readers,
                             int self, size_t room);
void aps_store_selector_clear(struct aps_store_selector *handoff);

/*
 * aps_store_selector_next is called once for each chunk. It returns the reader
 * to measure before any of the chunk is written, or -1.
 *
 * aps_store_selector_measure then measures that reader: to[bytes] in shared
 * memory is the area that this rank will write next for the reader, and may be
 * overwritten before that. If `bytes` is too small, nothing is measured.
 */
int aps_store_selector_next(struct aps_store_selector *handoff);
void aps_store_selector_measure(struct aps_store_selector *handoff, int reader,
                                unsigned char *to, size_t bytes);

/* Updates the choice for `reader` with one measurement: the times of equally
 * many stores of both kinds, in nanoseconds. For aps_store_selector_measure and
 * for tests. */
void aps_store_selector_update(struct aps_store_selector *handoff, int reader,
                               int64_t store_ns, int64_t stream_ns);

/* True if this rank writes blocks for `reader` with streaming stores, which
 * bypass the caches. */
bool aps_store_selector_streams(const struct aps_store_selector *handoff,
                                int reader);

/* aps_store_selector_make returns the address at which the caller encodes a
 * block for `to`: scratch of this rank, or `to` itself. aps_store_selector_pass
 * then brings its `bytes` to `to`. Only one block at a time. */
unsigned char *aps_store_selector_make(const struct aps_store_selector *handoff,
                                       int reader, unsigned char *to);
void aps_store_selector_pass(const struct aps_store_selector *handoff,
                             int reader, unsigned char *to, size_t bytes);

/* Copies from[bytes], the rank's own host memory, to to[bytes]. */
void aps_store_selector_copy(const struct aps_store_selector *handoff,
                             int reader, unsigned char *to, const void *from,
                             size_t bytes);

#endif
