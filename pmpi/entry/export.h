/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks a function that programs and MPI find. All other functions of the
 * library are hidden.
 */
#ifndef APS_PMPI_ENTRY_EXPORT_H
#define APS_PMPI_ENTRY_EXPORT_H

#define EXPORT __attribute__((visibility("default")))

#endif
