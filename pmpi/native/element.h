/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's datatypes of the elements that may be summed (base/element.h).
 */
#ifndef APS_PMPI_NATIVE_ELEMENT_H
#define APS_PMPI_NATIVE_ELEMENT_H

#include <mpi.h>

#include "base/element.h"

/*
 * Local. Returns the type of the elements of a predefined datatype, or
 * APS_ELEMENT_NONE. Types that not every MPI has are found by the name that MPI
 * gives them, so one library serves MPIs with other handles for them.
 */
enum aps_element aps_element_of(MPI_Datatype type);

#endif
