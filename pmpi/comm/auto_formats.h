/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formats that layers of a communicator have got while the program runs (format:
 * {auto: ...}). All here but `past`, by which rank 0 alone decides, is the same
 * on all ranks: it follows from the order of the calls and from verdicts that the ranks
 * have agreed on.
 */
#ifndef APS_PMPI_COMM_AUTO_FORMATS_H
#define APS_PMPI_COMM_AUTO_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

#include "comm/candidates.h"
#include "comm/place.h"
#include "policy/choice.h"

/* A program whose counts vary from call to call would get layers without end: all that
 * no step tells apart are dropped when there are so many, on all ranks at the same
 * call. */
#define APS_AUTO_LAYERS_MAX 4096

/* What one rule knows of a layer. */
struct aps_auto_layer {
    struct aps_auto_layer *next; /* in its bucket */
    long layer;
    size_t count;
    int rule;
    long generation; /* of the steps: in another one it is another layer */
    int chosen;      /* -1: FP32 */
    bool chose;      /* by measurements; otherwise none has said anything yet */
    long due;        /* number of the next call to be measured */
    long pause;      /* numbers until the next one, if this one says nothing */
    struct aps_auto_past past; /* on rank 0 */
};

#define APS_AUTO_BUCKET_BITS 8
#define APS_AUTO_BUCKETS (1 << APS_AUTO_BUCKET_BITS)
struct aps_auto_formats {
    struct aps_candidates candidates;
    struct aps_auto_layer *buckets[APS_AUTO_BUCKETS];
    long generation;    /* of all layers */
    int keyed_by_count; /* layers that no step tells apart */
    bool lost;          /* a measurement, for lack of memory: it is said */
};

/* Local. NULL: out of memory. */
struct aps_auto_formats *aps_auto_formats_create(void);
void aps_auto_formats_destroy(
    struct aps_auto_formats *formats); /* NULL: nothing */

/* Local. What is known of the layer at `place`, under the place's rule; NULL: nothing
 * yet, or of another generation. */
struct aps_auto_layer *
aps_auto_formats_find(const struct aps_auto_formats *formats,
                      const struct aps_place *place);

/* Local. Returns the record of the layer at `place`, and makes it if there is none.
 * Drops records of other generations of the steps. NULL: out of memory. */
struct aps_auto_layer *aps_auto_formats_get(struct aps_auto_formats *formats,
                                            const struct aps_place *place);

/* What a measurement says: a format, -1 for FP32, or nothing. */
#define APS_VERDICT_NONE (-2)

/*
 * COLLECTIVE over the context's communicator. Returns the verdict of rank 0 on all
 * ranks. After an MPI error context->failed is set.
 */
int aps_auto_formats_agree(struct aps_context *context, int verdict);

#endif
