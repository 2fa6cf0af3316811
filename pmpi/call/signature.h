/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contents of a datatype. In an all-gather ranks may describe the same elements
 * by different types, so decisions of the ranks must follow from the elements.
 */
#ifndef APS_PMPI_CALL_SIGNATURE_H
#define APS_PMPI_CALL_SIGNATURE_H

#include <mpi.h>
#include <stddef.h>

#include "job/job.h"
#include "native/element.h"

/* Contents of an element of a datatype: `count` values of one type, wherever they
 * lie. */
struct aps_signature {
    enum aps_element element;
    size_t count;
};

/* Local. Returns {APS_ELEMENT_NONE, 0} if an element of `type` holds values that the
 * policy has no rules for, values of several types, or none, or if it is not a
 * datatype. */
struct aps_signature aps_signature_of(const struct aps_job *job,
                                      MPI_Datatype type);

#endif
