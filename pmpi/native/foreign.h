/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognises an MPI that the library was not built for, before the library uses
 * one of its handles.
 *
 * A library whose handles are pointers passes every call on to such an MPI,
 * because a register holds any handle. A library whose handles are ints would
 * cut the pointers of another MPI in half, and ends the process instead.
 */
#ifndef APS_PMPI_NATIVE_FOREIGN_H
#define APS_PMPI_NATIVE_FOREIGN_H

#include <stdbool.h>

/* Local. True if the process runs with an MPI that the library was not built
 * for. Every call then passes through, and the first rank prints one line. If
 * MPI's handles are ints, ends the process with status 125 instead of
 * returning true. */
bool aps_foreign(void);

#endif
