/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The summary: one or more lines at the end of the job about what the library
 * did, or a JSON object in a file (summary_json.h).
 */
#ifndef APS_PMPI_SUMMARY_SUMMARY_H
#define APS_PMPI_SUMMARY_SUMMARY_H

#include "job/job.h"

/* Print or write the summary on world rank 0, unless APSMPI_SUMMARY is off.
 * Local. */
void aps_summary_print(const struct aps_job *job, int world_rank);

#endif
