/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file with the policy that a job ends with (format: {auto: ...}): LOG-policy.yaml
 * beside the log, or the one that APSMPI_FINAL_POLICY names.
 */
#ifndef APS_PMPI_SUMMARY_FINAL_POLICY_H
#define APS_PMPI_SUMMARY_FINAL_POLICY_H

#include "job/job.h"

/* The job begins, and holds a good policy: its rank 0 says if the file cannot be
 * written at the end, and notes what stands there now. Once in a process. */
void aps_final_policy_begin(const struct aps_job *job);

/* The job ends, and this process is `world_rank`: rank 0 writes the file, if formats
 * were chosen. It is there whole or not at all. A file that another job has written
 * since this one began stays: the name of this one's gets the id of the run. What goes
 * wrong is said, no more. */
void aps_final_policy_write(const struct aps_job *job, int world_rank);

#endif
