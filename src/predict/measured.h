/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that apsmpi-measure writes: a machine and the rates of its codecs, as
 * YAML, so that a user can read and change it.
 */
#ifndef APS_PREDICT_MEASURED_H
#define APS_PREDICT_MEASURED_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "number/format.h"
#include "predict/machine.h"

#define APS_MEASURED_FORMATS 64

/* Repetitions that disagree by more are no measure: predictions say so. */
#define APS_MEASURED_SPREAD 0.2

/* Where they disagree by more, or native MPI waits longer in a step than four times
 * the link's latency and this, the machines were so busy that predictions are of no
 * use. */
#define APS_MEASURED_BUSY_SPREAD 0.3
#define APS_MEASURED_BUSY_WAIT 1e-3 /* seconds */

struct aps_measured {
    struct aps_machine machine;
    double
        spread; /* the most that repetitions disagreed by, of 1; 0: unknown */
    int formats;
    struct {
        struct aps_format format;
        struct aps_codec_rates rates;
    } codecs[APS_MEASURED_FORMATS];
};

/* Were the machines so busy? */
bool aps_measured_is_busy(const struct aps_measured *measured);

/* What says so, as "repetitions disagree by 34 %, and a step of native MPI waits 5
 * ms": that alone which is beyond its limit. `what` has disagreed, or NULL. Writes
 * at most `size` bytes, returns `buffer`. */
char *aps_measured_busy(const struct aps_measured *measured, const char *what,
                        char *buffer, size_t size);

/* The rates of that format, or NULL. */
const struct aps_codec_rates *
aps_measured_codec(const struct aps_measured *measured,
                   const struct aps_format *format);

/* 0, or -1 with all that is wrong with the file. */
int aps_measured_read(const char *path, struct aps_measured *measured,
                      struct aps_errors *errors);

/* What aps_measured_read reads. `comment` is a line without its #. Errors of the
 * stream are left to ferror(). */
void aps_measured_write(const struct aps_measured *measured,
                        const char *comment, FILE *stream);

#endif
