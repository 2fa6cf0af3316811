/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose MPI the program's calls are meant for. A program that is linked with
 * another MPI calls that one, which job.c notices. An object that is loaded
 * later, such as mpi4py's module, finds the MPI that this library needs before
 * its own: its calls go to an MPI whose handles it does not know. The library
 * cannot undo that, and can only tell the user.
 */
#ifndef APS_PMPI_JOB_CALLER_H
#define APS_PMPI_JOB_CALLER_H

/* The program calls MPI_Init from this address. If its object was linked with
 * an MPI of another ABI than the library was built for, and its calls go to
 * ours, the first rank prints a line. Local; before MPI_Init or behind it. */
void aps_caller_check(const void *address);

#endif
