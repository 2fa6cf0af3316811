/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory backends: the verbs that the reductions are written against, once, for
 * any kind of memory that the program's buffers live in. Wire bytes always lie
 * in host memory, and are the same bytes whatever the backend: ranks may differ.
 */
#ifndef APS_CODEC_MEMORY_H
#define APS_CODEC_MEMORY_H

#include <stddef.h>

#include "codec/codec.h"

/*
 * x is in this backend's memory or in the host's. A verb is done when it
 * returns; all are thread-safe. One that fails counts among `failures`, and leaves
 * zeros where it was to write, if it can.
 */
struct aps_memory {
    const char *name; /* "host", "cuda", ...: for messages */

    /* Greatest finite |x[i]|, and whether all are finite. */
    struct aps_magnitude (*magnitude)(const float *x, size_t n);

    /* See struct aps_codec. */
    unsigned (*encode)(const struct aps_codec *codec, const float *x, size_t n,
                       struct aps_scaling scaling, void *wire);
    void (*decode)(const struct aps_codec *codec, const void *wire, size_t n,
                   struct aps_scaling scaling, unsigned flags, float *x);

    /* To and from host memory. */
    void (*copy_out)(void *host, const float *x, size_t n);
    void (*copy_in)(float *x, const void *host, size_t n);

    /* How many verbs have failed in this process so far; if any, cause[size] says
     * why the last did. NULL: they never do. */
    unsigned long (*failures)(char *cause, size_t size);
};

/* Ordinary memory. */
extern const struct aps_memory aps_memory_host;

#endif
