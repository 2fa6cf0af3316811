/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Discovery: without a policy every call passes through, and once the step is
 * known, its layers and a policy skeleton are written for the user to edit.
 */
#ifndef APS_PMPI_DISCOVERY_H
#define APS_PMPI_DISCOVERY_H

#include "context.h"

/* After aps_steps_advance in a context that discovers: writes once the step has
 * lasted. Local. */
void aps_discovery_note(struct aps_context *context,
                        const struct aps_position *position);

/* The communicator goes: what is known by now is written, if it was not. */
void aps_discovery_end(struct aps_context *context);

#endif
