/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Id of a run, which the rows of one job have in common in a log that several
 * jobs write.
 *
 * A process has one id for all its life. It takes the id that rank 0 made on
 * the first hidden communicator of the process (world/handshake.h). This is
 * usually the job's world, so that all ranks of a job have the same id. Only
 * the log depends on the id.
 */
#ifndef APS_PMPI_JOB_RUN_H
#define APS_PMPI_JOB_RUN_H

#include <stdbool.h>

#include "job/job.h"
#include "message/vcomm.h"

/* Size of an id with the final NUL, such as "20261122T143059.123456-4711": the
 * time (UTC) when rank 0 made it, and the number of its process. Later ids sort
 * after earlier ones. */
#define APS_RUN_ID 40

/* Local. Returns the id of this process. *made: this call has made the id,
 * because there was none. Thread-safe. */
void aps_run_offer(char id[APS_RUN_ID], bool *made);

/* Local. Returns the id of this process, or "" if there is none yet.
 * Thread-safe. */
void aps_run_get(char id[APS_RUN_ID]);

/* Local. Takes the id of another rank, unless this process has one.
 * Thread-safe. */
void aps_run_adopt(const char id[APS_RUN_ID]);

/* Local, on rank 0 of vcomm, which has made the id. Writes into the log, if
 * this process has one, the event that a run has begun, and one event for each
 * candidate. */
void aps_run_write_begin(struct aps_job *job, const struct aps_vcomm *vcomm,
                         const char id[APS_RUN_ID]);

/* Local, in MPI_Finalize. Writes the event that the run has ended, if this
 * process has written that it began. */
void aps_run_write_end(struct aps_job *job);

#endif
