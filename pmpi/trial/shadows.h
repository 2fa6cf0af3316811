/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of a communicator's shadow candidates (a policy's `shadow`), and the
 * next step to be sampled.
 */
#ifndef APS_PMPI_TRIAL_SHADOWS_H
#define APS_PMPI_TRIAL_SHADOWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trial/candidates.h"
#include "steps/sample_budget.h"

struct aps_shadows {
    struct aps_candidates candidates;
    struct aps_sample_budget budget;
    int64_t begin; /* CLOCK_MONOTONIC at the first call, in nanoseconds; 0: none
                      yet */
    bool lost;     /* true once it was reported that a sample was lost */
    bool starts;   /* true if nonblocking calls have candidates, too */
    atomic_size_t copied; /* bytes of copies that wait in the queue */
};

/* Local. `share`: part of the time that samples may take. Returns NULL if
 * memory is missing. */
struct aps_shadows *aps_shadows_create(double share);

/* Local. Frees the state. NULL is allowed. */
void aps_shadows_destroy(struct aps_shadows *shadows);

/* COLLECTIVE over the context's communicator. Makes room for candidates of n
 * elements. All ranks have arrived when it returns. Returns the same value on
 * all ranks: false if any rank is not `well`, or lacks memory. The sample of
 * step `number` is then lost, and the next one is postponed. */
bool aps_shadows_equip(struct aps_context *context, size_t n, size_t class,
                       long number, bool well);

/* COLLECTIVE over the context's communicator, after a sample that took `taken`
 * nanoseconds on this rank. The ranks agree on the next step to be sampled.
 * After an MPI error context->failed is set. */
void aps_shadows_end(struct aps_context *context, size_t class, long number,
                     int64_t taken);

/* Local. Adds the bytes of a copy that waits in the queue to shadows->copied,
 * from which its owner subtracts them when the copy is freed. */
void aps_shadows_add_copy(struct aps_shadows *shadows, size_t bytes);

#endif
