/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi suggest: writes a policy from the log of a shadow run. It is a program
 * of its own, scripts/apsmpi-suggest, because it reads logs as apsmpi-report
 * does.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

#define ENDING "-suggest"

/* The path begins with that of this program, so that a prefix that `make
 * install` was given applies to both. */
static int become(char **argv)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);

    if (length < 0 || (size_t)length + sizeof ENDING > sizeof path) {
        fprintf(stderr,
                "apsmpi suggest: cannot find the directory of apsmpi\n");
        return APS_EXIT_FAILURE;
    }
    strcpy(path + length, ENDING);
    argv[0] = path;
    execv(path, argv);
    fprintf(stderr,
            "apsmpi suggest: cannot start %s: %s; it is installed with apsmpi, "
            "and in the source tree it is scripts/apsmpi-suggest\n",
            path, strerror(errno));
    return APS_EXIT_FAILURE;
}

const struct aps_subcommand aps_subcommand_suggest = {
    .name = "suggest",
    .summary = "write a policy from the log of a run with candidates",
    .become = become,
};
