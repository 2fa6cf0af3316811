/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contents of a datatype. In an all-gather ranks may describe the same elements
 * by different types, so decisions of the ranks must follow from the elements.
 */
#ifndef APS_PMPI_COLLECTIVE_SIGNATURE_H
#define APS_PMPI_COLLECTIVE_SIGNATURE_H

#include <mpi.h>
#include <stddef.h>

#include "job/job.h"

/* Local. Returns the number of FP32 values in an element of `type`, wherever
 * they lie; 0 if it holds other values or none, or is not a datatype. */
size_t aps_signature_floats(const struct aps_job *job, MPI_Datatype type);

#endif
