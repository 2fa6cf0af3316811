/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this room's files mark the functions with that programs and MPI find:
 * all else in the library is hidden.
 */
#ifndef APS_PMPI_ENTRY_EXPORT_H
#define APS_PMPI_ENTRY_EXPORT_H

#define EXPORT __attribute__((visibility("default")))

#endif
