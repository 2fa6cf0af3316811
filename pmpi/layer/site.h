/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A site: the ranks on which layers are reduced, and the state that the layers of
 * earlier calls have left.
 */
#ifndef APS_PMPI_LAYER_SITE_H
#define APS_PMPI_LAYER_SITE_H

#include "reduce/reduction.h"

struct aps_scales;       /* layer/scales.h */
struct aps_compressions; /* layer/compressions.h */

/* State that calls leave to later calls. The first call that needs a member
 * makes it. {0} is empty. */
struct aps_carried_state {
    struct aps_scales *scales;
    struct aps_compressions *compressions;
};

/* Where layers are reduced, and with which state. */
struct aps_layer_site {
    struct aps_reductions *reductions;
    const struct aps_vcomm *vcomm; /* their ranks */
    struct aps_carried_state *kept;
    void (*report)(void *owner,
                   const char *text); /* reports an event, such as a
                                                      scale at its minimum */
    void *owner;
};

#endif
