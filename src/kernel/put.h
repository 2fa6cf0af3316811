/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways in which a kernel that decodes stores the values. */
#ifndef APS_KERNEL_PUT_H
#define APS_KERNEL_PUT_H

/* Overwrite; add; or overwrite with streaming stores (codec/stream.h), in an
 * array that begins with a cache line. */
enum aps_put { APS_PUT, APS_PUT_ADD, APS_PUT_STREAM };

#endif
