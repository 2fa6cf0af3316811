/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number/parse.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

void *verbs_allocate(size_t bytes)
{
    void *p = malloc(bytes + 1);

    if (!p)
        bail_out("out of memory");
    return p;
}

void arrays_create(const char *format, size_t n, float *device,
                   struct arrays *a)
{
    struct aps_format f;

    if (aps_format_parse(format, &f, NULL) < 0)
        bail_out("%s does not parse", format);
    aps_codec_init(&f, &a->codec);
    a->scaling = (struct aps_scaling){.exponent = n % 2 ? 3 : -2,
                                      .factor = n % 3 ? 1 : 1.3f};
    a->n = n;
    a->bytes = aps_codec_bytes(&a->codec, n);
    a->x = verbs_allocate(n * sizeof *a->x);
    a->y = verbs_allocate(n * sizeof *a->y);
    a->expected_x = verbs_allocate(n * sizeof *a->x);
    a->expected_sum = verbs_allocate(n * sizeof *a->x);
    a->wire = verbs_allocate(a->bytes + 2 * WIRE_AROUND);
    a->expected = verbs_allocate(a->bytes);
    a->expected_drawn = verbs_allocate(a->bytes);
    for (size_t i = 0; i < n; i++)
        a->x[i] = i % 1000 == 999 ? random_value(&f, a->scaling.exponent)
                                  : random_near(&f, a->scaling.exponent);
    if (n > 2) { /* the marker, from the last piece */
        a->x[n - 2] = NAN;
        a->x[n - 1] = -INFINITY;
    }
    a->flags = aps_memory_host.encode(&a->codec, a->x, n, a->scaling, NULL,
                                      a->expected, NULL);
    aps_memory_host.decode(&a->codec, a->expected, n, a->scaling, a->flags,
                           a->expected_x);
    memcpy(a->expected_sum, a->x, n * sizeof *a->x);
    a->codec.decode_add(&a->codec, a->expected, n, a->scaling, a->flags,
                        a->expected_sum);
    a->options = (struct aps_cast_options){.size = sizeof a->options,
                                           .rounding = APS_ROUND_CORRELATED,
                                           .offset = 4294967290,
                                           .rank = 2,
                                           .ranks = 5};
    a->stats = (struct aps_encode_stats){0};
    aps_memory_host.encode(&a->codec, a->x, a->n, a->scaling, &a->options,
                           a->expected_drawn, &a->stats);
    a->device = device;
    verbs_write(device, a->x, n * sizeof *a->x);
}

void arrays_destroy(struct arrays *a)
{
    free(a->x);
    free(a->y);
    free(a->expected_x);
    free(a->expected_sum);
    free(a->wire);
    free(a->expected);
    free(a->expected_drawn);
}

static bool device_is(const struct arrays *a, const float *expected)
{
    verbs_read(a->y, a->device, a->n * sizeof *a->y);
    return memcmp(a->y, expected, a->n * sizeof *a->y) == 0;
}

/* Runs the verbs as steps. */
static bool runs_right(const struct aps_memory *verbs, struct arrays *a)
{
    const struct aps_device_step plain = {.codec = &a->codec,
                                          .x = a->device,
                                          .n = a->n,
                                          .wire = a->wire,
                                          .scaling = a->scaling,
                                          .options = a->options};
    const struct aps_magnitude wanted = aps_magnitude_of(a->x, a->n);
    struct aps_device_step steps[2] = {plain, plain}, decode = plain;

    memset(a->wire, 0x55, a->bytes);
    steps[0].verb = APS_DEVICE_ENCODE;
    steps[1].verb = APS_DEVICE_MAGNITUDE;
    verbs->run(steps, 2);
    if (steps[0].flags != a->flags ||
        memcmp(a->wire, a->expected_drawn, a->bytes) != 0 ||
        aps_float_bits(steps[1].magnitude.max) != aps_float_bits(wanted.max) ||
        steps[1].magnitude.finite != wanted.finite)
        return false;
    decode.verb = APS_DEVICE_DECODE;
    decode.wire = a->expected;
    decode.flags = a->flags;
    verbs->run(&decode, 1);
    return device_is(a, a->expected_x);
}

const char *run_verbs(const struct aps_memory *verbs, struct arrays *a)
{
    struct aps_magnitude wanted = aps_magnitude_of(a->x, a->n), got;
    struct aps_encode_stats stats = {0};
    unsigned flags;

    got = verbs->magnitude(a->device, a->n);
    if (aps_float_bits(got.max) != aps_float_bits(wanted.max) ||
        got.finite != wanted.finite)
        return "magnitude";

    memset(a->wire, 0x55, a->bytes);
    flags = verbs->encode(&a->codec, a->device, a->n, a->scaling, NULL, a->wire,
                          NULL);
    if (flags != a->flags || memcmp(a->wire, a->expected, a->bytes) != 0)
        return "encode";
    memset(a->wire, 0x55, a->bytes);
    flags = verbs->encode(&a->codec, a->device, a->n, a->scaling, &a->options,
                          a->wire, &stats);
    if (flags != a->flags || memcmp(a->wire, a->expected_drawn, a->bytes) != 0)
        return "encode with statistics";
    if (memcmp(&stats, &a->stats, sizeof stats) != 0)
        return "statistics";

    memset(a->y, 0x55, a->n * sizeof *a->y);
    verbs->copy_out(a->y, a->device, a->n);
    if (memcmp(a->y, a->x, a->n * sizeof *a->y) != 0)
        return "copy_out";

    if (!runs_right(verbs, a))
        return "run";
    verbs_write(a->device, a->x, a->n * sizeof *a->x);
    verbs->decode(&a->codec, a->expected, a->n, a->scaling, a->flags,
                  a->device);
    if (!device_is(a, a->expected_x))
        return "decode";

    verbs->copy_in(a->device, a->x, a->n);
    if (!device_is(a, a->x))
        return "copy_in";
    return NULL;
}

/* True if the wire has the expected bytes, and the memory around it is unchanged. */
static bool wire_is(const struct arrays *a, const unsigned char *expected,
                    const unsigned char *got)
{
    for (size_t i = 0; i < WIRE_AROUND; i++) {
        if (got[i] != 0x55 || got[WIRE_AROUND + a->bytes + i] != 0x55)
            return false;
    }
    return memcmp(got + WIRE_AROUND, expected, a->bytes) == 0;
}

static bool magnitude_is(struct aps_magnitude got, struct aps_magnitude wanted)
{
    return aps_float_bits(got.max) == aps_float_bits(wanted.max) &&
           got.finite == wanted.finite;
}

/* Runs encode, measure, decode and add, and measure the sums, in one call. */
static bool steps_are_right(const struct aps_device_memory *device,
                            const struct arrays *a, unsigned char *wire)
{
    static const struct aps_cast_options nearest = APS_CAST_OPTIONS_INIT;
    const struct aps_device_step plain = {.codec = &a->codec,
                                          .x = a->device,
                                          .n = a->n,
                                          .wire = wire,
                                          .scaling = a->scaling,
                                          .options = nearest};
    struct aps_device_step steps[4] = {plain, plain, plain, plain};

    steps[0].verb = APS_DEVICE_ENCODE;
    steps[1].verb = APS_DEVICE_MAGNITUDE;
    steps[2].verb = APS_DEVICE_DECODE;
    steps[2].add = true;
    steps[2].flags = a->flags;
    steps[3].verb = APS_DEVICE_MAGNITUDE;
    if (device->run(steps, 4) < 0)
        return false;
    verbs_read(a->wire, wire - WIRE_AROUND, a->bytes + 2 * WIRE_AROUND);
    return a->n == 0 ||
           (steps[0].flags == a->flags && wire_is(a, a->expected, a->wire) &&
            magnitude_is(steps[1].magnitude, aps_magnitude_of(a->x, a->n)) &&
            device_is(a, a->expected_sum) &&
            magnitude_is(steps[3].magnitude,
                         aps_magnitude_of(a->expected_sum, a->n)));
}

const char *run_blocks_at(const struct aps_memory *verbs, struct arrays *a,
                          unsigned char *wire)
{
    const struct aps_device_memory *device = verbs->device;
    const size_t all = a->bytes + 2 * WIRE_AROUND;
    struct aps_encode_stats stats = {0};
    unsigned flags;

    memset(a->wire, 0x55, all);
    device->put(wire - WIRE_AROUND, a->wire, all);
    memset(a->wire, 0, all);
    verbs_read(a->wire, wire - WIRE_AROUND, all);
    for (size_t i = 0; i < all; i++) {
        if (a->wire[i] != 0x55)
            return "put";
    }

    flags = device->encode(&a->codec, a->device, a->n, a->scaling, NULL, wire,
                           NULL);
    verbs_read(a->wire, wire - WIRE_AROUND, all);
    if (flags != a->flags || !wire_is(a, a->expected, a->wire))
        return "encode on the device";
    memset(a->wire, 0, all);
    device->get(a->wire, wire - WIRE_AROUND, all);
    if (!wire_is(a, a->expected, a->wire))
        return "get";
    flags = device->encode(&a->codec, a->device, a->n, a->scaling, &a->options,
                           wire, &stats);
    verbs_read(a->wire, wire - WIRE_AROUND, all);
    if (flags != a->flags || !wire_is(a, a->expected_drawn, a->wire) ||
        memcmp(&stats, &a->stats, sizeof stats) != 0)
        return "encode with statistics on the device";
    device->encode(&a->codec, a->device, a->n, a->scaling, NULL, wire, NULL);

    device->decode(&a->codec, wire, a->n, a->scaling, a->flags, false,
                   a->device);
    if (!device_is(a, a->expected_x))
        return "decode on the device";
    verbs_write(a->device, a->x, a->n * sizeof *a->x);
    device->decode(&a->codec, wire, a->n, a->scaling, a->flags, true,
                   a->device);
    if (!device_is(a, a->expected_sum))
        return "decode on the device and add";
    verbs_write(a->device, a->x, a->n * sizeof *a->x);
    if (!steps_are_right(device, a, wire))
        return "steps on the device";
    verbs_write(a->device, a->x, a->n * sizeof *a->x);
    return NULL;
}

const char *run_blocks(const struct aps_memory *verbs, struct arrays *a,
                       const void *near, size_t shift)
{
    const struct aps_device_memory *device = verbs->device;
    const char *failed = "allocate";
    char cause[256] = "";
    unsigned char *memory = device->allocate(
        near, a->bytes + shift + 2 * WIRE_AROUND, cause, sizeof cause);

    if (memory)
        failed = run_blocks_at(verbs, a, memory + WIRE_AROUND + shift);
    else
        diag("%s", cause);
    device->release(memory);
    return failed;
}
