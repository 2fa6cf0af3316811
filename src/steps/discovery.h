/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Discovery: without a policy every call passes through, and once the step is
 * known, its layers and a policy skeleton are written for the user to edit.
 */
#ifndef APS_STEPS_DISCOVERY_H
#define APS_STEPS_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "steps/steps.h"

/* What was seen and written for one communicator. {0} is the beginning. */
struct aps_discovery {
    long followed; /* whole steps since the step was found */
    long layers;   /* calls of the step last written out, or 0 */
    int times;     /* how often that was */
};

/* After aps_steps_advance: is it time to write the step out? It is when the
 * step has lasted, and not written as it is. Local. */
bool aps_discovery_note(struct aps_discovery *discovery,
                        const struct aps_steps *steps,
                        const struct aps_step_position *position);

/* No more calls will come: is there a step that was never written out?
 * Local. */
bool aps_discovery_end(struct aps_discovery *discovery,
                       const struct aps_steps *steps);

/*
 * Write PREFIX.yaml and PREFIX-layers.csv, or PREFIX-1 and so on where they are
 * there already. What came of it goes to `said`, for people.
 */
void aps_discovery_write(const struct aps_steps *steps, const char *prefix,
                         char *said, size_t size);

#endif
