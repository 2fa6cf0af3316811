/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a rank writes shared memory that another core has read and reads again. A store
 * to such a line waits until that core has given it up. Where both cores have a cache
 * in common, that takes less time than an encoder needs for a line of codes, and the
 * reader finds the line in the cache. Where they have none, as on two chiplets of an
 * EPYC, it takes a few times the encoder's; streaming stores, which wait for nobody and
 * leave lines in memory, do not. Nanoseconds a line, 512 KiB:
 *
 *                                         written          read
 *                                      store  stream   store  stream
 *   AMD EPYC (Zen 4), a cache in common   7      2       0.8    1.8
 *   ... none                             36      2       2.5    1.8
 *   Intel Emerald Rapids                  4      7       2.9    3.5
 *
 * Each rank finds out for itself, by a few stores of both kinds now and then, since
 * bindings and virtual machines hide where ranks run, and may move them. Only time
 * depends on it, so that ranks may differ.
 */
#ifndef APS_PMPI_REDUCE_HANDOFF_H
#define APS_PMPI_REDUCE_HANDOFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aps_handoff {
    unsigned char
        *scratch;    /* [room], once it is needed: what streams is made here */
    size_t room;     /* bytes of a block, at most */
    unsigned chunks; /* until the next measurement */
    bool measures;   /* else `streams` is what the user wants */
    bool doubted;    /* the last measurement was against `streams` */
    bool streams;
};

/* As APSMPI_HANDOFF says. */
void aps_handoff_init(struct aps_handoff *handoff, size_t room);
void aps_handoff_clear(struct aps_handoff *handoff);

/* Once a chunk, before any of it: to[bytes] in shared memory is what this rank will
 * write next, and may be overwritten with anything before. */
void aps_handoff_begin(struct aps_handoff *handoff, unsigned char *to,
                       size_t bytes);

/* What aps_handoff_begin does with a measurement, the times of as many stores of both
 * kinds. For it, and for tests. */
void aps_handoff_judge(struct aps_handoff *handoff, int64_t store_ns,
                       int64_t stream_ns);

/* Where a block is to be made that goes to `to`, in this rank's memory or `to` itself;
 * and what brings its `bytes` there. One at a time. */
unsigned char *aps_handoff_make(const struct aps_handoff *handoff,
                                unsigned char *to);
void aps_handoff_pass(const struct aps_handoff *handoff, unsigned char *to,
                      size_t bytes);

/* to[bytes] = from[bytes], host memory that is the rank's own. */
void aps_handoff_copy(const struct aps_handoff *handoff, unsigned char *to,
                      const void *from, size_t bytes);

#endif
