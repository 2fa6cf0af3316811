/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "verbs/program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

/* This file's own name: with it a prefix that `make install` was told to put in
 * front of all commands is in front of that program's name, too. */
int aps_program_become(const char *name, char **argv)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);

    if (length < 0 || (size_t)length + 1 + strlen(name) >= sizeof path) {
        fprintf(stderr, "apsmpi %s: the place of apsmpi is not known\n", name);
        return APS_EXIT_FAILURE;
    }
    path[length] = '-';
    strcpy(path + length + 1, name);
    argv[0] = path;
    execv(path, argv);
    fprintf(stderr,
            "apsmpi %s: cannot start %s: %s; it is installed with apsmpi, and "
            "in the source tree it is scripts/apsmpi-%s\n",
            name, path, strerror(errno), name);
    return APS_EXIT_FAILURE;
}
