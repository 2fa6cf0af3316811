/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi bench: runs apsmpi-bench, which needs MPI, with the library preloaded.
 * That program reads the options and makes its own policy.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/installed.h"

/* Sets the environment of a rank: the library precedes what is preloaded
 * already, and no variable of the user's training changes the measurement. */
static void set_environment(const char *library)
{
    static const char *const unwanted[] = {"APSMPI_POLICY", "APSMPI_SHADOW",
                                           "APSMPI_LOG", "APSMPI_ENABLE"};
    const char *before = getenv("LD_PRELOAD");
    char preload[3 * PATH_MAX];

    snprintf(preload, sizeof preload, "%s%s%s", library, before ? ":" : "",
             before ? before : "");
    setenv("LD_PRELOAD", preload, 1);
    setenv("APSMPI_SUMMARY", "off", 1);
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        unsetenv(unwanted[i]);
}

static int become(char **argv)
{
    char program[PATH_MAX], library[PATH_MAX];

    if (!aps_installed_program("bench", program, library)) {
        fprintf(stderr, "apsmpi: bench: no libapsmpi.so is installed, and no "
                        "apsmpi-bench next to it (apsmpi info shows the "
                        "installation)\n");
        return APS_EXIT_FAILURE;
    }
    set_environment(library);
    argv[0] = program;
    execv(program, argv);
    fprintf(stderr, "apsmpi: bench: %s: %s\n", program, strerror(errno));
    return APS_EXIT_FAILURE;
}

const struct aps_subcommand aps_subcommand_bench = {
    .name = "bench",
    .summary = "compare all-reduces with MPI's: mpiexec -n N apsmpi bench",
    .become = become,
};
