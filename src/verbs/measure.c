/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi measure: runs apsmpi-measure, which needs MPI, for the MPI that has
 * started it.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/installed.h"
#include "cli/problems.h"

/* Writes the path of a library's program: next to it, or in the build tree of
 * both. */
static void program_of(const struct aps_installed *library, char path[PATH_MAX])
{
    const int folder = (int)(strrchr(library->file, '/') - library->file);

    snprintf(path, PATH_MAX, "%.*s/apsmpi-measure", folder, library->file);
    if (access(path, X_OK) != 0)
        snprintf(path, PATH_MAX, "%.*s/../pmpi/measure/apsmpi-measure", folder,
                 library->file);
}

/* True if the library is for the MPI whose launcher has started this process.
 * Only Open MPI's launcher gives its name. */
static bool suits_launcher(const struct aps_installed *library)
{
    const bool open_mpi = getenv("OMPI_COMM_WORLD_SIZE") != NULL;

    return (strstr(library->mpi, "Open MPI") != NULL) == open_mpi;
}

/* Returns false if there is none. */
static bool find_program(char path[PATH_MAX])
{
    size_t count;
    struct aps_installed *list = aps_installed_find(&count);
    bool found = false;

    for (size_t i = 0; i < count; i++)
        if (count == 1 || suits_launcher(&list[i])) {
            program_of(&list[i], path);
            found = true;
        }
    aps_installed_free(list, count);
    return found;
}

static int run(const struct aps_arguments *arguments)
{
    const char *output = aps_arguments_option(arguments, "output");
    char path[PATH_MAX];

    if (!find_program(path))
        return aps_problems_fail(
            arguments, APS_EXIT_FAILURE,
            "measure: no libapsmpi.so is installed, and no apsmpi-measure next "
            "to it (apsmpi info shows the installation)");
    execl(path, "apsmpi-measure", output ? "--output" : NULL, output,
          (char *)NULL);
    return aps_problems_fail(arguments, APS_EXIT_FAILURE, "%s: %s", path,
                             strerror(errno));
}

const struct aps_subcommand aps_subcommand_measure = {
    .name = "measure",
    .summary = "measure a cluster: mpiexec -n N apsmpi measure",
    .operands = "",
    .help =
        "Measures the links between the hosts of an MPI job and inside them,\n"
        "with all ranks at work, and what messages, memory and codecs take of\n"
        "their cores. Start it by mpiexec, with as many ranks on each host as\n"
        "training has; it takes less than a minute. `apsmpi explain\n"
        "--measured FILE` predicts times from it.\n",
    .options = {{"output", "FILE",
                 "where to write it (default apsmpi-measured.yaml;\n"
                 "- is standard output)"}},
    .least = 0,
    .most = 0,
    .run = run,
};
