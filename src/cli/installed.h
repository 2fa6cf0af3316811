/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The libraries that belong to this command: those of the installation that it
 * stands in, or of the build tree.
 */
#ifndef APS_COMMAND_INSTALLED_H
#define APS_COMMAND_INSTALLED_H

#include <stdbool.h>
#include <stddef.h>

/* A libapsmpi.so. */
struct aps_installed {
    char *file;
    char *version; /* "0.1.0", "" if the file does not tell */
    char *mpi;     /* "MPICH 4.0.2", "" if the file does not tell */
    char *sources; /* 16 digits that ranks compare, "" if unknown */
    char *plugin;  /* where it looks for the plugin for GPU memory */
    bool plugin_found;
};

/* All of them, ordered by name; *count may be 0. Freed by aps_installed_free. */
struct aps_installed *aps_installed_find(size_t *count);
void aps_installed_free(struct aps_installed *list, size_t count);

#endif
