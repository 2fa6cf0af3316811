/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the policy that a job ends with (format: {auto: ...}) to
 * LOG-policy.yaml next to the log, or to the file that APSMPI_FINAL_POLICY
 * names.
 */
#ifndef APS_PMPI_SUMMARY_FINAL_POLICY_H
#define APS_PMPI_SUMMARY_FINAL_POLICY_H

#include "job/job.h"

/* Local. Called when the job begins and holds a good policy; acts once in a
 * process. Notes the state of the file; rank 0 reports if the file cannot be
 * written at the end. */
void aps_final_policy_begin(const struct aps_job *job);

/* Local. Called when the job ends, on the rank that prints the summary. Writes
 * the file, if formats were chosen. The file is complete or does not exist. If
 * another job has written the file since this job began, the file stays, and
 * this job writes to a name with the id of its run. Errors are only
 * reported. */
void aps_final_policy_write(const struct aps_job *job);

#endif
