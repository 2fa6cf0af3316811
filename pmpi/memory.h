/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory backends: the verbs that the reductions are written against, once, for
 * any kind of memory that the program's buffers live in. Wire bytes always lie
 * in host memory.
 */
#ifndef APS_PMPI_MEMORY_H
#define APS_PMPI_MEMORY_H

#include <stddef.h>

#include "codec/codec.h"

struct aps_memory {
    /* Greatest finite |x[i]|, and whether all are finite. */
    struct aps_magnitude (*magnitude)(const float *x, size_t n);

    /* See struct aps_codec; x is in this backend's memory. */
    unsigned (*encode)(const struct aps_codec *codec, const float *x, size_t n,
                       struct aps_scaling scaling, void *wire);
    void (*decode)(const struct aps_codec *codec, const void *wire, size_t n,
                   struct aps_scaling scaling, unsigned flags, float *x);

    /* To and from host memory. */
    void (*copy_out)(void *host, const float *x, size_t n);
    void (*copy_in)(float *x, const void *host, size_t n);
};

/* Ordinary memory. */
extern const struct aps_memory aps_memory_host;

#endif
