/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a communicator of ours agree on before anything else: that
 * they run the same version with the same switches, and one policy.
 *
 * The policy is that of the lowest rank that holds one; the ranks that hold none
 * take it from there. Ranks that hold another one object, and then every call
 * passes through on all.
 */
#ifndef APS_PMPI_JOB_HANDSHAKE_H
#define APS_PMPI_JOB_HANDSHAKE_H

#include <stdbool.h>

#include "job/job.h"
#include "progress/vcomm.h"

enum aps_agreed {
    APS_AGREED_PASS,     /* every call passes through */
    APS_AGREED_DISCOVER, /* nobody holds a policy: watch the calls */
    APS_AGREED_POLICY    /* all hold the same one */
};

/* The same on all ranks. */
struct aps_handshake {
    enum aps_agreed outcome;
    bool stop; /* the policy is bad and the job is to stop; the rank that holds
                  it has said why */
    long sample_every; /* rank 0's log: 0 takes no samples */
    char cause[320];   /* why every call passes through, or "" */
};

/*
 * COLLECTIVE over vcomm. `whole_job`: its ranks are those of MPI_COMM_WORLD, so
 * that a policy which none of them can read is an error of the job; otherwise
 * other ranks may hold it, and the calls only pass. An MPI error code.
 */
int aps_handshake(struct aps_job *job, const struct aps_vcomm *vcomm,
                  bool whole_job, struct aps_handshake *agreed);

#endif
