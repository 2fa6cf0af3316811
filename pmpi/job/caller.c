/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job/caller.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "base/message.h"
#include "job/job.h"
#include "native/abi.h"

typedef int (*version_fn)(char *version, int *length);

/* The function by which the MPI that the object in this file needs tells its
 * version; NULL if the object needs none by itself. */
static version_fn caller_version_of(const char *file)
{
    void *object = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    version_fn version = NULL;
    void *symbol;

    if (!object)
        return NULL;
    symbol = dlsym(object, "PMPI_Get_library_version");
    if (symbol)
        memcpy(&version, &symbol, sizeof version);
    dlclose(object); /* it stays loaded, since it has called */
    return version;
}

static bool caller_reaches_our_mpi(void)
{
    static char version[APS_ABI_VERSION_MAX];
    int length;

    return PMPI_Get_library_version(version, &length) == MPI_SUCCESS &&
           aps_abi_is_ours(version);
}

void aps_caller_check(const void *address)
{
    static char version[APS_ABI_VERSION_MAX];
    version_fn get_version;
    Dl_info object;
    int length;

    if (!dladdr(address, &object) || !object.dli_fname)
        return;
    get_version = caller_version_of(object.dli_fname);
    if (!get_version || get_version == PMPI_Get_library_version ||
        get_version(version, &length) != MPI_SUCCESS ||
        aps_abi_is_ours(version) || !caller_reaches_our_mpi() ||
        !aps_job_is_first_rank())
        return;
    version[strcspn(version, "\r\n")] = '\0';
    aps_message(-1,
                "%s was built for '%.80s', but the library for %s, and its "
                "calls go to the wrong MPI: take one that was built for %s, "
                "or the launcher of that MPI",
                object.dli_fname, version, aps_abi_name, aps_abi_name);
}
