/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The summary: one or more lines at the end of the job about what the library
 * did.
 */
#ifndef APS_PMPI_JOB_SUMMARY_H
#define APS_PMPI_JOB_SUMMARY_H

#include "job/job.h"

/* Print the summary on world rank 0, unless APSMPI_SUMMARY is off. Local. */
void aps_summary_tell(const struct aps_job *job, int world_rank);

#endif
