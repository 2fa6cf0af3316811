/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of the round-off log, and the report that the log, or a file next to
 * it, can no longer be written.
 */
#ifndef APS_PMPI_JOB_LOG_EVENT_H
#define APS_PMPI_JOB_LOG_EVENT_H

#include "base/error.h"
#include "roundoff/log.h"

/* Local. Reports on standard error that the file could not be written, with the
 * cause `error`; once per file, as rank `rank`. `what`: object that the job
 * runs without, such as "a log". */
void aps_job_lost_file(struct aps_log *file, int rank,
                       const struct aps_error *error, const char *what);

/* Local. Writes an event, or reports that the log is lost. */
void aps_job_log_event(struct aps_log *log, int rank, const char *text);

#endif
