/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that replace MPI's: all else in the library is hidden. */
#ifndef APS_PMPI_EXPORT_H
#define APS_PMPI_EXPORT_H

#define APS_EXPORT __attribute__((visibility("default")))

#endif
