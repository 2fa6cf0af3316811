/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements of bf16, fp16 and double on the fake device (fake.h), through the relay and
 * the plugin. Bytes, flags, statistics, magnitudes and results are the relay's for the
 * same elements in host memory. The relay copies nothing, except if the device fails or
 * has no kernel for the format.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/memory.h"
#include "cuda/plugin.h"
#include "device/gpu_copies.h"
#include "device/gpu_driver.h"
#include "device/memory_relay.h"
#include "fake.h"
#include "number/parse.h"
#include "tap/tap.h"
#include "unit/common/wire.h"
#include "verbs.h"

#define PIECE ((size_t)1 << 17) /* elements that are converted at a time */

/* --- the library's driver ---------------------------------------------------- */

atomic_uintptr_t aps_gpu_driver_image_begin, aps_gpu_driver_heap_end;
_Thread_local struct aps_gpu_driver_stack aps_gpu_driver_stack;
const struct aps_gpu_driver *_Atomic aps_gpu_driver_loaded;
_Atomic uint64_t aps_gpu_driver_missed;

static const unsigned char *device; /* the elements there, ... */
static size_t device_bytes;
static unsigned long copies; /* ... and how often the relay copied some */

bool aps_gpu_driver_asks(const void *p)
{
    return (const unsigned char *)p >= device &&
           (const unsigned char *)p < device + device_bytes;
}

int aps_gpu_copy_out(void *host, const void *x, size_t bytes, char *cause,
                     size_t size)
{
    (void)cause, (void)size;
    copies++;
    fake_read(host, x, bytes);
    return 0;
}

int aps_gpu_copy_in(void *x, const void *host, size_t bytes, char *cause,
                    size_t size)
{
    (void)cause, (void)size;
    copies++;
    fake_write(x, host, bytes);
    return 0;
}

/* --- one format, type and size ------------------------------------------------- */

struct run {
    const struct aps_memory *memory;
    struct aps_codec codec;
    struct aps_scaling scaling;
    struct aps_cast_options options;
    size_t n, bytes, wire_bytes;
    void *host;         /* elements */
    void *wanted, *got; /* decoded elements */
    unsigned char *wire, *wanted_wire;
    unsigned char *base, *x; /* elements on the device */
};

static void run_create(const char *format, enum aps_element element, size_t n,
                       size_t shift, CUcontext context, struct run *run)
{
    struct aps_format f;
    float *values = verbs_allocate(n * sizeof *values);

    if (aps_format_parse(format, &f, NULL) < 0)
        bail_out("%s does not parse", format);
    aps_codec_init(&f, &run->codec);
    run->memory = aps_memory_relay(element);
    run->scaling = (struct aps_scaling){.exponent = n % 2 ? 3 : -2,
                                        .factor = n % 3 ? 1 : 1.3f};
    run->options = (struct aps_cast_options){.size = sizeof run->options,
                                             .rounding = APS_ROUND_CORRELATED,
                                             .offset = 4294967290,
                                             .rank = 2,
                                             .ranks = 5};
    run->n = n;
    run->bytes = n * run->memory->element;
    run->wire_bytes = aps_codec_bytes(&run->codec, n);
    for (size_t i = 0; i < n; i++)
        values[i] = i % 1000 == 999 ? random_value(&f, run->scaling.exponent)
                                    : random_near(&f, run->scaling.exponent);
    if (n > 2) { /* the marker, from the last piece */
        values[n - 2] = NAN;
        values[n - 1] = -INFINITY;
    }
    run->host = verbs_allocate(run->bytes);
    run->wanted = verbs_allocate(run->bytes);
    run->got = verbs_allocate(run->bytes);
    run->wire = verbs_allocate(run->wire_bytes);
    run->wanted_wire = verbs_allocate(run->wire_bytes);
    run->memory->copy_in(run->host, values, n);
    if (element == APS_ELEMENT_DOUBLE && n > 2) /* beyond FP32 */
        ((double *)run->host)[n / 2] = 1e300;
    run->base = fake_allocate(FAKE_DEVICE, context, run->bytes + shift);
    run->x = run->base + shift;
    device = run->x;
    device_bytes = run->bytes;
    fake_write(run->x, run->host, run->bytes);
    free(values);
}

static void run_destroy(struct run *run)
{
    device_bytes = 0;
    fake_free(run->base);
    free(run->host);
    free(run->wanted);
    free(run->got);
    free(run->wire);
    free(run->wanted_wire);
}

static bool same_encoding(const struct run *run, bool stats)
{
    struct aps_encode_stats wanted = {0}, got = {0};
    const struct aps_memory *memory = run->memory;
    unsigned wanted_flags, flags;

    memset(run->wire, 0x55, run->wire_bytes);
    if (stats) {
        wanted_flags =
            memory->encode(&run->codec, run->host, run->n, run->scaling,
                           &run->options, run->wanted_wire, &wanted);
        flags = memory->encode(&run->codec, run->x, run->n, run->scaling,
                               &run->options, run->wire, &got);
    } else {
        wanted_flags =
            memory->encode(&run->codec, run->host, run->n, run->scaling, NULL,
                           run->wanted_wire, NULL);
        flags = memory->encode(&run->codec, run->x, run->n, run->scaling, NULL,
                               run->wire, NULL);
    }
    return flags == wanted_flags &&
           memcmp(run->wire, run->wanted_wire, run->wire_bytes) == 0 &&
           memcmp(&wanted, &got, sizeof got) == 0;
}

/* Returns the first verb whose result differs from that in host memory, or NULL. */
static const char *run_all(const struct run *run)
{
    const struct aps_memory *memory = run->memory;
    const struct aps_magnitude wanted = memory->magnitude(run->host, run->n);
    const struct aps_magnitude got = memory->magnitude(run->x, run->n);
    unsigned flags;

    if (aps_float_bits(got.max) != aps_float_bits(wanted.max) ||
        got.finite != wanted.finite)
        return "magnitude";
    if (!same_encoding(run, true))
        return "encode with statistics";
    if (!same_encoding(run, false))
        return "encode";
    flags = memory->encode(&run->codec, run->host, run->n, run->scaling, NULL,
                           run->wanted_wire, NULL);
    memory->decode(&run->codec, run->wanted_wire, run->n, run->scaling, flags,
                   run->wanted);
    memory->decode(&run->codec, run->wanted_wire, run->n, run->scaling, flags,
                   run->x);
    fake_read(run->got, run->x, run->bytes);
    fake_write(run->x, run->host, run->bytes);
    return memcmp(run->got, run->wanted, run->bytes) == 0 ? NULL : "decode";
}

/* --- tests ------------------------------------------------------------------- */

static const char *run_size(const char *format, enum aps_element element,
                            size_t n, size_t shift)
{
    const char *failed;
    struct run run;

    run_create(format, element, n, shift, fake_context_primary(0), &run);
    failed = run_all(&run);
    run_destroy(&run);
    return failed;
}

static void test_formats(enum aps_element element)
{
    static const char *const formats[] = {
        "e4m3",      "e5m2",    "e3m0",  "e2m1",      "e5m3",   "bf16",
        "fp16",      "tf32",    "e8m23", "bfp7/4096", "bfp4/3", "nvfp4",
        "mx-e4m3fn", "mx-int8", "flex8", "flex16",    "e3m2fn",
    };
    static const size_t sizes[] = {0, 1, 3, 1000, 70001};
    const char *failed = NULL, *format = NULL;

    copies = 0;
    for (size_t f = 0; f < sizeof formats / sizeof *formats && !failed; f++) {
        format = formats[f];
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !failed; i++)
            failed = run_size(format, element, sizes[i], i % 4);
        if (!failed) /* more pieces than slots */
            failed = run_size(format, element, 7 * PIECE + 77, f % 2);
    }
    ok(!failed, "%s: %s%s%s", aps_element_types[element].name,
       failed ? format : "the bytes and results of the host, by pieces, too",
       failed ? ": " : "", failed ? failed : "");
    ok(copies == 0, "... and nothing is copied (%lu)", copies);
    failed = run_size("qsgd4/128", element, 70001, 0);
    ok(!failed && copies > 0, "... except in a format without kernels");
}

/* Each call in turn fails, once, or with all later ones. */
static void test_failures(bool sticky)
{
    CUcontext context = fake_context_create(0);
    const char *failed = NULL;
    bool reached = true;
    unsigned long k;
    struct run run;

    copies = 0;
    fake_context_set(context);
    run_create("e5m2", APS_ELEMENT_BF16, 3000, 1, context, &run);
    for (k = 1; reached && !failed; k++) {
        fake_context_recreate(context);
        fake_fail(k, cudaErrorMemoryAllocation, sticky);
        /* A lane that fails for ever may decode later, into the elements. */
        failed = !sticky                      ? run_all(&run)
                 : !same_encoding(&run, true) ? "encode with statistics"
                                              : NULL;
        reached = fake_failed();
        fake_fail(0, cudaSuccess, false);
    }
    ok(!failed && copies > 0 && k > 15,
       "%lu calls that fail%s: %s: by the relay", k - 2,
       sticky ? " for ever" : " once",
       failed ? failed : "the results are right");
    run_destroy(&run);
}

static void test_memory_full(void)
{
    CUcontext context = fake_context_create(1);
    const char *failed;
    struct run run;

    copies = 0;
    fake_context_set(context);
    run_create("e4m3", APS_ELEMENT_FP16, 200000, 0, context, &run);
    fake_memory_full(true);
    failed = run_all(&run);
    fake_memory_full(false);
    ok(!failed && copies > 0, "a device without memory left: by the relay");
    run_destroy(&run);
}

int main(void)
{
    const unsigned long before = aps_memory_relay_failures(NULL, 0);
    char cause[256];

    ok(aps_cuda_plugin.open(cause, sizeof cause) == 0, "the plugin opens");
    ok(run_size("e4m3", APS_ELEMENT_BF16, 1000, 0) == NULL && copies > 0,
       "without the plugin's function: by the relay");
    aps_memory_relay_use(aps_cuda_plugin.elements);
    fake_context_set(fake_context_primary(0));
    test_formats(APS_ELEMENT_BF16);
    test_formats(APS_ELEMENT_FP16);
    test_formats(APS_ELEMENT_DOUBLE);
    ok(fake_pageable() == 0, "all copies are of pinned memory");
    test_failures(false);
    test_failures(true);
    test_memory_full();
    ok(aps_memory_relay_failures(NULL, 0) == before &&
           aps_cuda_plugin.memory.failures(cause, sizeof cause) == 0,
       "no failure");
    return done_testing();
}
