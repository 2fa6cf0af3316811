/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether memory of the program may be written. A caller that MPI allows to pass
 * memory that is only read may pass a constant or a file that is mapped read-only.
 */
#ifndef APS_BASE_WRITABLE_H
#define APS_BASE_WRITABLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Can the first and the last of bytes[size], size > 0, be written? Nothing is
 * changed. A buffer that lies in several mappings may have holes in between that
 * this does not see. Where the kernel cannot tell, the answer is yes.
 */
bool aps_memory_is_writable(const void *bytes, size_t size);

#endif
