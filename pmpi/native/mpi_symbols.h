/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols of MPI that the library uses: they are those of the process.
 *
 * The library is linked with no MPI. A loader therefore never refuses it for
 * the name of a library that is missing, and a program that does not use MPI
 * loads none. The library takes the addresses of the symbols from the MPI of
 * the process, as soon as there is one.
 */
#ifndef APS_PMPI_NATIVE_MPI_SYMBOLS_H
#define APS_PMPI_NATIVE_MPI_SYMBOLS_H

#include <stdbool.h>

/* Local. Finds the symbols in the MPI of the process: in the program and the
 * libraries that it needs, or else in a module that is loaded by now. Returns
 * false if the process has no MPI. Until then a function of MPI returns an
 * error code and does nothing. */
bool aps_mpi_symbols_find(void);

#endif
