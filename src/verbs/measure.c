/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi measure: runs apsmpi-measure, which needs MPI, for the MPI that has
 * started it.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/installed.h"
#include "cli/problems.h"

static int run(const struct aps_arguments *arguments)
{
    const char *output = aps_arguments_option(arguments, "output");
    char path[PATH_MAX], library[PATH_MAX];

    if (!aps_installed_program("measure", path, library))
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
