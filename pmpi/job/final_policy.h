/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file with the policy that a job ends with (format: {auto: ...}): LOG-policy.yaml
 * beside the log, or the one that APSMPI_FINAL_POLICY names.
 */
#ifndef APS_PMPI_JOB_FINAL_POLICY_H
#define APS_PMPI_JOB_FINAL_POLICY_H

#include "job/job.h"

/* The job ends, and this process is `world_rank`: rank 0 writes the file, if formats
 * were chosen. It is there whole or not at all. What goes wrong is said, no more. */
void aps_final_policy_write(const struct aps_job *job, int world_rank);

#endif
