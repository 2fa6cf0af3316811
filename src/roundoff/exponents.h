/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of histograms of exponents, next to the round-off log LOG.csv:
 * LOG-exponents.csv, a row for each layer and sample. It is opened and written
 * like the log.
 */
#ifndef APS_ROUNDOFF_EXPONENTS_H
#define APS_ROUNDOFF_EXPONENTS_H

#include "roundoff/binades.h"
#include "roundoff/log.h"

#define APS_EXPONENTS_HEADER                                                   \
    "run,comm,call,step,epoch,layer,name,count,zeros,infinite,nan,binades"

/* Opens the file next to the log at `path`. Returns 0 or -1. */
int aps_exponents_open(struct aps_log *file, const char *path,
                       struct aps_error *error);

/* Writes the columns of one row, like aps_log_write. */
int aps_exponents_write(struct aps_log *file, const struct aps_log_row *row,
                        const struct aps_binades *binades,
                        struct aps_error *error);

#endif
