/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First agreement of the ranks of a hidden communicator: the ranks compare
 * their versions and switches, and find out which policy they hold.
 *
 * The lowest rank that holds a policy sends it to the ranks that hold none. If
 * a rank holds another policy, every call passes through on all ranks.
 */
#ifndef APS_PMPI_WORLD_HANDSHAKE_H
#define APS_PMPI_WORLD_HANDSHAKE_H

#include <stdbool.h>

#include "job/job.h"
#include "job/run.h"
#include "message/vcomm.h"

enum aps_agreed {
    APS_AGREED_PASS,     /* every call passes through */
    APS_AGREED_DISCOVER, /* no rank holds a policy: the library watches the
                            calls */
    APS_AGREED_POLICY    /* all ranks hold the same policy */
};

/* Result of the agreement, equal on all ranks. */
struct aps_handshake {
    enum aps_agreed outcome;
    enum aps_reason reason; /* cause of APS_AGREED_PASS */
    bool stop;         /* the policy is bad and the job must stop; the rank that
                          holds it has printed the reason */
    bool mixed;        /* some ranks came in MPI_Init, others at a call; the
                          communicator then has all ranks of the job, and
                          every call passes through */
    bool threads;      /* all ranks have MPI_THREAD_MULTIPLE */
    long sample_every; /* interval of samples in rank 0's log, in steps;
                          0: no samples */
    char run[APS_RUN_ID]; /* id of the run, made by rank 0; "" without a
                             policy */
    char cause[320];      /* reason why every call passes through, or "" */
};

/*
 * COLLECTIVE over vcomm. Carries out the handshake. `whole_job`: vcomm has the
 * ranks of MPI_COMM_WORLD, and a policy file that none of them can read is a
 * bad policy. Without `whole_job` ranks outside vcomm may hold the policy, and
 * the calls pass through. Returns an MPI error code, which may differ between
 * the ranks.
 */
int aps_handshake(struct aps_job *job, const struct aps_vcomm *vcomm,
                  bool whole_job, struct aps_handshake *agreed);

#endif
