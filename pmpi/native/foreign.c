/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "native/foreign.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/launch.h"
#include "base/message.h"
#include "native/abi.h"
#include "native/mpi_symbols.h"

#define EXIT_FOREIGN 125

/* Text that what(1) and `apsmpi info` find in the file of the library. */
static const char abi_what[] __attribute__((used)) =
    "@(#)apsmpi " PACKAGE_VERSION " for " APS_MPI_VERSION;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool foreign;

/* Part of MPI 5. On processors without jumps (mpi_symbols.c) older MPIs leave it
 * NULL. */
int PMPI_Abi_get_version(int *abi_major, int *abi_minor) __attribute__((weak));

/* Returns the name of the ABI of an MPI with this version text, as in APS_ABI_NAME, or
 * NULL. The text does not show the standard's ABI. A libmpi_abi.so that does not report
 * the version of its ABI is older than MPI 5. */
static const char *foreign_abi(const char *version)
{
    static const char *const rows[][2] = {{"MPICH", "MPICH"},
                                          {"Intel(R) MPI", "MPICH"},
                                          {"MVAPICH", "MPICH"},
                                          {"Open MPI", "Open MPI"}};
    void *init = dlsym(RTLD_DEFAULT, "PMPI_Init");
    int major, minor;
    Dl_info object;

    if (PMPI_Abi_get_version &&
        PMPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major != -1)
        return major == 1 ? APS_ABI_STANDARD : NULL;
    if (init && dladdr(init, &object) && object.dli_fname &&
        strstr(object.dli_fname, "/libmpi_abi.so"))
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(version, rows[i][0]))
            return rows[i][1];
    return NULL;
}

/* Ends the process. The other ranks wait for the line of the first rank,
 * because launchers kill a job when one of its processes ends. */
static void foreign_end_process(void)
{
    if (aps_launch_rank() > 0)
        sleep(1);
    _exit(EXIT_FOREIGN);
}

static void foreign_look(void)
{
    const bool found = aps_mpi_symbols_find();
    const bool ends = !found || sizeof(MPI_Comm) < sizeof(void *);
    static char version[APS_ABI_VERSION_MAX] = "an unknown MPI";
    const char *abi = NULL;
    int length;

    if (found && PMPI_Get_library_version(version, &length) == MPI_SUCCESS)
        abi = foreign_abi(version);
    foreign = !abi || strcmp(abi, APS_ABI_NAME) != 0;
    if (!foreign)
        return;
    version[strcspn(version, ",\r\n")] = '\0';
    for (char *tab = version; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    if (aps_launch_rank() <= 0)
        aps_message(-1,
                    "the library was built for %s, but the program runs with "
                    "'%.80s' and %s: %s; start the program with apsmpi-run, or "
                    "preload the library for that ABI, which `apsmpi info` "
                    "lists",
                    APS_ABI_NAME, version, abi ? abi : "an unknown ABI",
                    ends ? "the process ends before MPI_Init"
                         : "every call passes through");
    if (ends)
        foreign_end_process();
}

bool aps_foreign(void)
{
    pthread_once(&once, foreign_look);
    return foreign;
}
