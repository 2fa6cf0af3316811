/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognises an MPI that the library was not built for, before the library uses
 * a handle of it.
 *
 * A library whose handles are pointers passes every call on to such an MPI,
 * since a register holds any handle. A library whose handles are ints would cut
 * the pointers of another MPI in half: it ends the process.
 */
#ifndef APS_PMPI_NATIVE_FOREIGN_H
#define APS_PMPI_NATIVE_FOREIGN_H

#include <stdbool.h>

/* Local. True if the process runs with an MPI that the library was not built
 * for: then every call passes through. The first rank prints one line. Does not
 * return, and ends the process with status 2, if MPI's handles are ints. */
bool aps_foreign(void);

/*
 * Local; before or after MPI_Init. The program calls MPI_Init from `address`. If
 * the object there was linked with another MPI, and its calls go to the MPI of
 * the library, the first rank prints a line. That happens to a module which
 * is loaded later, such as mpi4py's: the loader finds the MPI that the library
 * needs before the module's own. The library can only tell the user.
 */
void aps_foreign_check_caller(const void *address);

/* Returns the rank from the launcher's environment variables, or -1 if the
 * launcher sets none. */
int aps_launch_rank(void);

#endif
