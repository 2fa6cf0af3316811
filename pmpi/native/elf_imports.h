/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds functions that the program calls, as far as this can be known before
 * the calls.
 */
#ifndef APS_PMPI_NATIVE_ELF_IMPORTS_H
#define APS_PMPI_NATIVE_ELF_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True if the program, or a library that is loaded by now, imports one of these
 * functions from another object. An object that loads MPI's functions later (by
 * dlopen, or in a language of its own) does not count. An object that imports
 * them and never calls them counts, except the library that defines the
 * function `but_not_where`.
 */
bool aps_elf_imports_any(const char *const names[], size_t count,
                         const char *but_not_where);

#endif
