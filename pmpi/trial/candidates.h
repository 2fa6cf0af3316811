/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State for reducing one layer's inputs by several plans: the carried state of
 * each plan, kept from sample to sample like that of rewritten calls, and
 * scratch memory.
 */
#ifndef APS_PMPI_TRIAL_CANDIDATES_H
#define APS_PMPI_TRIAL_CANDIDATES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "comm/communicator.h"

/* Maximum number of candidates: the candidates of a rule, and perhaps the
 * rule's own plan before them. */
#define APS_CANDIDATES_MAX (APS_SHADOW_MAX + 1)

/* {0} is empty. */
struct aps_candidates {
    struct aps_carried_state kept[APS_CANDIDATES_MAX];
    bool warned_rules[APS_CANDIDATES_MAX]; /* candidates for which "cannot run
                                              here" was printed */
    float *out;                            /* [room]: result of a candidate */
    size_t room;
    atomic_ullong
        *needed; /* maximum over all communicators of the bytes of `out` and of
                    the reference; NULL: not counted */
    struct aps_sample sample; /* memory of the reference */
};

/* Local. Frees all memory. {0} is allowed. */
void aps_candidates_clear(struct aps_candidates *candidates);

/* COLLECTIVE over the context's communicator. Makes room for n elements. All
 * ranks have arrived when it returns. Returns the same value on all ranks:
 * false if any rank is not `well`, or lacks memory. */
bool aps_candidates_equip(struct aps_context *context,
                          struct aps_candidates *candidates, size_t n,
                          bool well);

#endif
