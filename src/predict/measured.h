/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * File of apsmpi-measure: a machine and the rates of its codecs, in YAML, so
 * that users can read and change it.
 */
#ifndef APS_PREDICT_MEASURED_H
#define APS_PREDICT_MEASURED_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "number/format.h"
#include "predict/machine.h"

#define APS_MEASURED_FORMATS 64

/* If repetitions disagree by more, the file is not a reliable measurement, and
 * predictions report that. */
#define APS_MEASURED_SPREAD 0.2

/* If repetitions disagree by more, or native MPI waits in a step for longer
 * than four times the link's latency and this, the machines were too busy for
 * predictions. */
#define APS_MEASURED_BUSY_SPREAD 0.3
#define APS_MEASURED_BUSY_WAIT 1e-3 /* seconds */

struct aps_measured {
    struct aps_machine machine;
    double spread; /* greatest disagreement of repetitions, as a fraction; 0:
                   unknown */
    int formats;
    struct {
        struct aps_format format;
        struct aps_codec_rates rates;
    } codecs[APS_MEASURED_FORMATS];
};

/* True if the machines were too busy. */
bool aps_measured_is_busy(const struct aps_measured *measured);

/* Writes the measurements that exceed their limits: "repetitions disagree by 34
 * %, and a step of native MPI waits 5 ms". `what` names what disagreed, or is
 * NULL. Writes at most `size` bytes. Returns `buffer`. */
char *aps_measured_busy(const struct aps_measured *measured, const char *what,
                        char *buffer, size_t size);

/* Returns the rates of that format, or NULL. */
const struct aps_codec_rates *
aps_measured_codec(const struct aps_measured *measured,
                   const struct aps_format *format);

/* Returns 0, or -1 after all errors of the file were reported. */
int aps_measured_read(const char *path, struct aps_measured *measured,
                      struct aps_errors *errors);

/* Writes a file for aps_measured_read. `comment` is a line without its #. The
 * caller checks ferror(). */
void aps_measured_write(const struct aps_measured *measured,
                        const char *comment, FILE *stream);

#endif
