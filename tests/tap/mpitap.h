/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TAP (tap.h) for MPI programs. Verdicts are agreed through PMPI_ on a
 * communicator of its own, never through the call under test, and its waits
 * yield the core: with more ranks than cores MPICH's own do not.
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

/* COLLECTIVE over comm, which replaces MPI_COMM_WORLD in programs without one. */
void mpitap_begin_on(MPI_Comm comm);

/* COLLECTIVE. Call it before MPI_Finalize. Prints the plan. Returns the exit status. */
int mpitap_end(void);

int mpitap_rank(void);
int mpitap_size(void);

/*
 * COLLECTIVE. One test, passed if `pass` holds on every rank; a rank on which
 * it does not prints a line. Returns the verdict of all.
 */
bool ok_all(bool pass, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True if MPI trusts that its handles, which may be pointers, are valid, and
 * crashes if they are not; and the text for a skipped test. */
#ifdef OPEN_MPI
#define mpitap_trusting true
#else
#define mpitap_trusting false
#endif
/* True for MPICH 5, which ends the job if a sum has no valid type. */
bool mpitap_trusts_types(void);
#define mpitap_trusted "this MPI does not check for it"

/* Skips one test on all ranks, with the reason. */
void skip_all(const char *name, const char *reason);

/* COLLECTIVE. True if `good` holds on every rank. */
bool good_on_all(bool good);

/* COLLECTIVE. True if all ranks have the same bytes. */
bool same_on_all(const void *bytes, size_t size);

/* An error handler for MPI_Comm_create_errhandler, which only counts its calls. */
void mpitap_handle(MPI_Comm *comm, int *code, ...);
extern int mpitap_handled;

/* Returns the error class of a code. */
int mpitap_class(int code);

/* Returns an info that asserts an order that MPI leaves open otherwise: all ranks start
 * the persistent collectives of a communicator in one order. MPI_Info_free frees it. */
MPI_Info mpitap_strict_order(void);

/* COLLECTIVE. No rank returns before all have come. */
void meet(void);

/*
 * Prints for the script (run.sh) the number of calls of this run that the library must
 * have rewritten on rank 0; the script compares it with the summary of the job.
 */
void expect_rewritten(unsigned long calls);

#endif
