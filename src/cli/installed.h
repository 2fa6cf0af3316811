/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that belong to this command: those of its installation or build
 * tree.
 */
#ifndef APS_COMMAND_INSTALLED_H
#define APS_COMMAND_INSTALLED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* A libapsmpi.so. */
struct aps_installed {
    char *file;
    char *version; /* "0.1.0", or "" if the file has no mark */
    char *mpi;     /* "MPICH 4.0.2", or "" if the file has no mark */
    char *sources; /* 16 digits that ranks compare, or "" if unknown */
    char *plugin;  /* path at which it looks for the plugin for GPU memory */
    bool plugin_found;
};

/* Returns all of them, sorted by name; *count may be 0. The caller frees them
 * by aps_installed_free. */
struct aps_installed *aps_installed_find(size_t *count);
void aps_installed_free(struct aps_installed *list, size_t count);

/* Writes the path of apsmpi-NAME, a program for the MPI whose launcher has started
 * this process, and that of the library next to it. Returns false if no library is
 * installed. */
bool aps_installed_program(const char *name, char program[PATH_MAX],
                           char library[PATH_MAX]);

#endif
