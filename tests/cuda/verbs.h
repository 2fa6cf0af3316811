/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin's verbs, each once, against the host's: on a GPU, or on the fake device.
 */
#ifndef APS_TESTS_CUDA_VERBS_H
#define APS_TESTS_CUDA_VERBS_H

#include <stddef.h>

#include "codec/codec.h"
#include "codec/memory.h"

/* Copy to and from the device; the program defines them. */
void verbs_write(void *to, const void *from, size_t bytes);
void verbs_read(void *to, const void *from, size_t bytes);

/* An array on both sides, and the host's results for it. */
struct arrays {
    struct aps_codec codec;
    struct aps_scaling scaling;
    size_t n;
    size_t bytes;
    float *x;      /* [n] */
    float *device; /* [n], in the tested memory; owned by the caller */
    unsigned char *expected;
    float *expected_x;
    float *expected_sum; /* x + expected_x */
    unsigned flags;
    struct aps_cast_options options; /* options of the second encode */
    unsigned char *expected_drawn;   /* bytes of the second encode */
    struct aps_encode_stats stats;
    unsigned char *wire;
    float *y;
};

/* Allocates host memory, or ends the program. */
void *verbs_allocate(size_t bytes);

void arrays_create(const char *format, size_t n, float *device,
                   struct arrays *a);
void arrays_destroy(struct arrays *a);

/* Returns the first verb whose result differs from the host's, or NULL. */
const char *run_verbs(const struct aps_memory *verbs, struct arrays *a);

/* Bytes of the wire's memory before and after it, at least. */
#define WIRE_AROUND ((size_t)64)

/* Like run_verbs, with the wire in a device's memory: at `wire`, ... */
const char *run_blocks_at(const struct aps_memory *verbs, struct arrays *a,
                          unsigned char *wire);

/* ... or in new memory near `near`, `shift` bytes beyond where it is best. */
const char *run_blocks(const struct aps_memory *verbs, struct arrays *a,
                       const void *near, size_t shift);

#endif
