/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "native/abi.h"

#include <stddef.h>
#include <string.h>

#ifdef APS_MPI_MPICH
const char aps_abi_name[] = "MPICH";
static const char *const known[] = {"MPICH", "Intel(R) MPI", "MVAPICH"};
#else
const char aps_abi_name[] = "Open MPI";
static const char *const known[] = {"Open MPI"};
#endif

/* For what(1) and `apsmpi info`, which read the file. */
static const char abi_what[] __attribute__((used)) =
    "@(#)apsmpi " PACKAGE_VERSION " for " APS_MPI_VERSION;

bool aps_abi_is_ours(const char *library_version)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(library_version, known[i]))
            return true;
    return false;
}
