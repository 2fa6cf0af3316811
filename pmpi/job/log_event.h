/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of the round-off log, and the line that says of a log, or of a file beside it,
 * that it can be written no more.
 */
#ifndef APS_PMPI_JOB_LOG_EVENT_H
#define APS_PMPI_JOB_LOG_EVENT_H

#include "base/error.h"
#include "roundoff/log.h"

/* Local. A line of the file could not be written, for the reason of `error`: rank
 * `rank` says so, the first time. `what` the job runs without: "a log". */
void aps_job_lost_file(struct aps_log *file, int rank,
                       const struct aps_error *error, const char *what);

/* Local. Write an event, or say that the log is lost. */
void aps_job_log_event(struct aps_log *log, int rank, const char *text);

#endif
