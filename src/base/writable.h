/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether the program's memory may be written. If MPI only reads a
 * buffer, the program may pass a constant or a file that is mapped
 * read-only.
 */
#ifndef APS_BASE_WRITABLE_H
#define APS_BASE_WRITABLE_H

#include <stdbool.h>
#include <stddef.h>

/* True if the first and the last of bytes[size], size > 0, can be written.
 * Nothing is changed. A buffer in several mappings may have read-only holes
 * that this does not find. True if the kernel cannot tell. */
bool aps_memory_is_writable(const void *bytes, size_t size);

#endif
