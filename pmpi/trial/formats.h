/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats that were chosen for the layers of a communicator while the program
 * runs (format: {auto: ...}). All fields are the same on all ranks, since they
 * follow from the order of the calls and from decisions that the ranks have
 * agreed on. Only `past`, from which rank 0 decides, is not.
 */
#ifndef APS_PMPI_TRIAL_FORMATS_H
#define APS_PMPI_TRIAL_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

#include "trial/candidates.h"
#include "layer/place.h"
#include "policy/choice.h"

/* Maximum number of layers keyed by count. A program whose counts vary from
 * call to call would add layers without end, so all of them are dropped at this
 * number, on all ranks at the same call. */
#define APS_AUTO_LAYERS_MAX 4096

/* Record of a layer under one rule. */
struct aps_auto_layer {
    struct aps_auto_layer *next; /* in its bucket */
    long layer;
    size_t count;
    int rule;
    long generation; /* generation of the steps, in which `layer` identifies the
                        layer */
    int chosen;      /* index of the format; -1: FP32 */
    bool chose;      /* true once measurements have chosen a format */
    long due;        /* number of the next call to be measured */
    long pause;      /* calls until the next measurement if this one allows no
                        decision */
    struct aps_auto_past past; /* history of the decisions, on rank 0 */
};

#define APS_AUTO_BUCKET_BITS 8
#define APS_AUTO_BUCKETS (1 << APS_AUTO_BUCKET_BITS)
struct aps_auto_formats {
    struct aps_candidates candidates;
    struct aps_auto_layer *buckets[APS_AUTO_BUCKETS];
    long generation;    /* generation of the steps of all layers */
    int keyed_by_count; /* number of layers that are keyed by count */
    bool lost;          /* true once it was reported that a measurement failed
                           for lack of memory */
};

/* Local. Returns NULL if memory is missing. */
struct aps_auto_formats *aps_auto_formats_create(void);
void aps_auto_formats_destroy(
    struct aps_auto_formats *formats); /* Local. NULL is allowed. */

/* Local. Returns the record of the layer at `place` under the rule of `place`,
 * or NULL if there is none of this generation. */
struct aps_auto_layer *
aps_auto_formats_find(const struct aps_auto_formats *formats,
                      const struct aps_place *place);

/* Local. Returns the record of the layer at `place`, and makes it if there is
 * none. Drops records of other generations of the steps. Returns NULL if memory
 * is missing. */
struct aps_auto_layer *aps_auto_formats_get(struct aps_auto_formats *formats,
                                            const struct aps_place *place);

/* A decision is the index of a format, -1 for FP32, or this value if the
 * measurement allows none. */
#define APS_VERDICT_NONE (-2)

/* COLLECTIVE over the context's communicator. Returns rank 0's decision on all
 * ranks. After an MPI error context->failed is set. */
int aps_auto_formats_agree(struct aps_context *context, int verdict);

#endif
