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
    size_t *sizes; /* of the first calls, as many as are recorded */
    long recorded;
    long room;
    long seen; /* all calls */
};

void aps_discovery_clear(struct aps_discovery *discovery);

/* After aps_steps_advance: is it time to write the step out? It is when the
 * step has lasted, and not written as it is. Local. */
bool aps_discovery_note(struct aps_discovery *discovery,
                        const struct aps_steps *steps,
                        const struct aps_step_position *position);

/* Remember the size of a call, for the case that no step is found. Local. */
void aps_discovery_record(struct aps_discovery *discovery, size_t count);

/* No more calls will come: is there a step that was never written out?
 * Local. */
bool aps_discovery_end(struct aps_discovery *discovery,
                       const struct aps_steps *steps);

/* Write the files of the step (discovery_files.h). What came of it goes to `said`,
 * for people. */
void aps_discovery_write(const struct aps_steps *steps, const char *prefix,
                         char *said, size_t size);

/*
 * No more calls will come, and nothing has been written: write the layers of which
 * the calls carry varying runs (tiling.h), if there are such layers; otherwise
 * `said` becomes a list of the sizes of the calls, and what to do. false: there is
 * nothing to say.
 */
bool aps_discovery_explain(struct aps_discovery *discovery, const char *prefix,
                           char *said, size_t size);

#endif
