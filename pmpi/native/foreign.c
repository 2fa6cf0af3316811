/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "native/foreign.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "native/abi.h"
#include "native/mpi_symbols.h"

#define EXIT_FOREIGN 125

/* Text that what(1) and `apsmpi info` find in the file of the library. */
static const char abi_what[] __attribute__((used)) =
    "@(#)apsmpi " PACKAGE_VERSION " for " APS_MPI_VERSION;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool foreign;

int aps_launch_rank(void)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK",
                                        "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value)
            return atoi(value);
    }
    return -1;
}

/* True if an MPI with this version text has the ABI of this library. Shortens
 * `version` to its first statement. */
static bool foreign_is_known(char version[APS_ABI_VERSION_MAX])
{
    static const char *const known[] = {APS_ABI_WORDS};
    bool is_known = false;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        is_known |= strstr(version, known[i]) != NULL;
    version[strcspn(version, ",\r\n")] = '\0';
    return is_known;
}

/* True if the process runs with MPI's standard ABI. The version text does not
 * show it, because MPICH has the same text for both of its libraries. */
static bool foreign_is_standard(void)
{
    void *init = dlsym(RTLD_DEFAULT, "PMPI_Init");
    Dl_info object;

    return init && dladdr(init, &object) && object.dli_fname &&
           strstr(object.dli_fname, "/libmpi_abi.so");
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
    const bool standard = foreign_is_standard();
    static char version[APS_ABI_VERSION_MAX] = "an unknown MPI";
    int length;

    if (found && PMPI_Get_library_version(version, &length) == MPI_SUCCESS &&
        foreign_is_known(version) && !standard)
        return;
    foreign = true;
    if (aps_launch_rank() <= 0)
        aps_message(-1,
                    "the library was built for %s, but the program runs with "
                    "'%.80s'%s: %s; %s",
                    APS_ABI_NAME, version, standard ? " (libmpi_abi.so)" : "",
                    ends ? "the process ends before MPI_Init"
                         : "every call passes through",
                    standard ? "compile the program with mpicc instead of "
                               "mpicc_abi"
                             : "start the program with apsmpi-run, or preload "
                               "the library for that MPI, which `apsmpi info` "
                               "lists");
    if (ends)
        foreign_end_process();
}

bool aps_foreign(void)
{
    pthread_once(&once, foreign_look);
    return foreign;
}
