/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a communicator knows of its candidates (a policy's `shadow`), and which step is
 * the next to be sampled.
 */
#ifndef APS_PMPI_COMM_SHADOWS_H
#define APS_PMPI_COMM_SHADOWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/candidates.h"
#include "steps/sample_budget.h"

struct aps_shadows {
    struct aps_candidates candidates;
    struct aps_sample_budget budget;
    int64_t begin; /* when the first call came, by the clock; 0: none yet */
    bool lost;     /* a sample: it is said */
    bool starts;   /* candidates of nonblocking calls, too */
    atomic_size_t copied; /* bytes of copies that wait in the queue */
};

/* Local. `share` of the time may be taken. NULL: out of memory. */
struct aps_shadows *aps_shadows_create(double share);

/* Local. NULL: nothing. */
void aps_shadows_destroy(struct aps_shadows *shadows);

/*
 * COLLECTIVE over the context's communicator. Room for candidates of n elements;
 * all ranks have come when it returns. The same on all ranks: false if any of them
 * is not `well`, or has no memory. Then the sample of step `number` is lost, and the
 * next one is put off.
 */
bool aps_shadows_equip(struct aps_context *context, size_t n, size_t class,
                       long number, bool well);

/*
 * COLLECTIVE over the context's communicator. A sample has been taken, which took
 * `taken` nanoseconds on this rank: agree on when the next one is due. After an MPI
 * error context->failed is set.
 */
void aps_shadows_end(struct aps_context *context, size_t class, long number,
                     int64_t taken);

/* Local. A copy of so many bytes waits in the queue; shadows->copied says how many do
 * until its owner takes them off. */
void aps_shadows_add_copy(struct aps_shadows *shadows, size_t bytes);

#endif
