/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the summary: lines at the end of the job about the calls of the
 * program, or a JSON object in a file (summary_json.h).
 */
#ifndef APS_PMPI_SUMMARY_SUMMARY_H
#define APS_PMPI_SUMMARY_SUMMARY_H

#include "job/job.h"

/* Local. Prints or writes the summary of the calls of this process, rank `rank`
 * of the job, unless APSMPI_SUMMARY is off. */
void aps_summary_print(const struct aps_job *job, int rank);

#endif
