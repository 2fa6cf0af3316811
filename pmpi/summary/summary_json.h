/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the summary for programs: one JSON object on one line, appended to the
 * file that APSMPI_SUMMARY=json:FILE names. apsmpi(7) describes the object.
 */
#ifndef APS_PMPI_SUMMARY_SUMMARY_JSON_H
#define APS_PMPI_SUMMARY_SUMMARY_JSON_H

#include "job/job.h"

/* Local. Appends the summary of this process, rank `rank` of the job, to the
 * file job->options.summary_file. If it fails, it prints a line on standard
 * error. */
void aps_summary_json_write(const struct aps_job *job, int rank);

#endif
