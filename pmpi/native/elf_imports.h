/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which functions the program calls, as far as that can be known before it
 * does.
 */
#ifndef APS_PMPI_NATIVE_ELF_IMPORTS_H
#define APS_PMPI_NATIVE_ELF_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Does the program, or a library that is loaded by now, import one of these
 * functions from elsewhere? What loads MPI's functions later (dlopen, a
 * language of its own) is not seen; what imports them and never calls them is,
 * except the library that has the function `but_not_where`.
 */
bool aps_elf_imports_any(const char *const names[], size_t count,
                         const char *but_not_where);

#endif
