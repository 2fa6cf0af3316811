/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a datatype is made of. In an all-gather ranks may describe the same
 * elements by different types: what ranks decide must follow from the elements.
 */
#ifndef APS_PMPI_CALL_SIGNATURE_H
#define APS_PMPI_CALL_SIGNATURE_H

#include <mpi.h>
#include <stddef.h>

#include "job/job.h"

/*
 * How many FP32 values an element of `type` holds, wherever they lie; 0 when it
 * holds others, or none, or is no datatype.
 */
size_t aps_signature_floats(const struct aps_job *job, MPI_Datatype type);

#endif
