/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TAP (tap.h) for MPI programs. Verdicts are agreed through PMPI_ on a
 * communicator of its own, never through the call under test, and its waits
 * give the core away: with more ranks than cores MPICH's own do not.
 *
 * Only rank 0 of MPI_COMM_WORLD writes to standard output; the others write `#`
 * lines to standard error.
 */
#ifndef APS_MPITAP_H
#define APS_MPITAP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "tap.h"

/* COLLECTIVE over MPI_COMM_WORLD. After MPI_Init, before all else. */
void mpitap_begin(void);

/* COLLECTIVE over comm, which takes the place of MPI_COMM_WORLD in programs
 * without one. */
void mpitap_begin_on(MPI_Comm comm);

/* COLLECTIVE. Prints the plan; the exit status. Before MPI_Finalize. */
int mpitap_end(void);

/* This rank, and how many there are. */
int mpitap_rank(void);
int mpitap_size(void);

/*
 * COLLECTIVE. One test, passed when `pass` holds on every rank; every rank
 * where it does not says so. Returns the verdict of all.
 */
bool ok_all(bool pass, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Does MPI take it on trust that pointers, which its handles may be, point to
 * what they should, and crash where they do not? And that as a reason to
 * skip. */
#ifdef OPEN_MPI
#define mpitap_trusting true
#else
#define mpitap_trusting false
#endif
#define mpitap_trusted "this MPI does not check for it"

/* On all ranks. One test that cannot hold here, with the reason. */
void skip_all(const char *name, const char *reason);

/* COLLECTIVE. Does `good` hold on every rank? */
bool good_on_all(bool good);

/* COLLECTIVE. Do all ranks hold the same bytes? */
bool same_on_all(const void *bytes, size_t size);

/* An info that asserts what MPI leaves open otherwise: that all ranks start the
 * persistent collectives of a communicator in one order. MPI_Info_free frees
 * it. */
MPI_Info mpitap_strict_order(void);

/* COLLECTIVE. No rank leaves before all have come. */
void meet(void);

/*
 * Tell the script (run.sh) how many calls of this run the library has to have
 * rewritten on rank 0, which it compares with the summary of the job.
 */
void expect_rewritten(unsigned long calls);

#endif
