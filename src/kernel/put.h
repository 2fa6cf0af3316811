/* SPDX-License-Identifier: BSD-3-Clause */
/* What a kernel that decodes does with the values. */
#ifndef APS_KERNEL_PUT_H
#define APS_KERNEL_PUT_H

/* Instead of what is there; in addition to it; or instead of it and past the caches
 * (codec/stream.h), to an array that begins with a cache line. */
enum aps_put { APS_PUT, APS_PUT_ADD, APS_PUT_STREAM };

#endif
