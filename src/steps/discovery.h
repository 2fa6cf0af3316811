/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Discovery: without a policy every call passes through, and once the step is
 * known, its layers and a policy skeleton are written for the user to edit.
 */
#ifndef APS_STEPS_DISCOVERY_H
#define APS_STEPS_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/element.h"
#include "steps/steps.h"

/* State of discovery for one communicator. {0} is the beginning. */
struct aps_discovery {
    long followed; /* complete steps since the step was found */
    long layers;   /* calls of the step last written out, or 0 */
    int times;     /* times that a step was written out */
    size_t *sizes; /* sizes of the first calls */
    long recorded;
    long room;
    long seen;      /* all calls */
    unsigned types; /* types of their elements: 1 << enum aps_element each */
};

void aps_discovery_clear(struct aps_discovery *discovery);

/* Local. Call it after aps_steps_advance. True if the step is to be written out
 * now: it has lasted, and was not written in this form. */
bool aps_discovery_note(struct aps_discovery *discovery,
                        const struct aps_steps *steps,
                        const struct aps_step_position *position);

/* Local. Records the size of a call, in case no step is found, and its type. */
void aps_discovery_record(struct aps_discovery *discovery, size_t count,
                          enum aps_element element);

/* Local. Call it after the last call. True if there is a step that was never
 * written out. */
bool aps_discovery_end(struct aps_discovery *discovery,
                       const struct aps_steps *steps);

/* Writes the files of the step (discovery_files.h). `said` gets the outcome,
 * for people. */
void aps_discovery_write(const struct aps_discovery *discovery,
                         const struct aps_steps *steps, const char *prefix,
                         char *said, size_t size);

/* Call it after the last call. Writes the layers of several networks that the
 * program trains alternately (turns.h). Returns false if there are none. */
bool aps_discovery_write_turns(const struct aps_discovery *discovery,
                               const char *prefix, char *said, size_t size);

/* Call it after the last call if nothing was written. Writes the layers
 * of a step in any order, or those whose varying runs the calls carry
 * (tiling.h), if there are such layers; otherwise
 * `said` becomes a list of the sizes of the calls, and advice. Returns false if
 * there is nothing to report. */
bool aps_discovery_explain(struct aps_discovery *discovery, const char *prefix,
                           char *said, size_t size);

#endif
