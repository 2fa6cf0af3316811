/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory backends: verbs in which the reductions are written once for every
 * kind of memory of the program's buffers. Wire bytes do not depend on the
 * backend, so ranks may differ. They lie in host memory, or, for verbs that not
 * all backends have, in a device's.
 */
#ifndef APS_CODEC_MEMORY_H
#define APS_CODEC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/codec.h"

/* Identifies device memory to other processes of this machine; plain bytes. */
struct aps_memory_token {
    unsigned char bytes[128];
};

/* A step of work on a device's memory: a verb of struct aps_device_memory or
 * of struct aps_memory, with the wire in that memory, or the magnitude of
 * values. */
enum aps_device_verb {
    APS_DEVICE_ENCODE,
    APS_DEVICE_DECODE,
    APS_DEVICE_MAGNITUDE,
    APS_DEVICE_PUT, /* n bytes, at most APS_DEVICE_STEP_BYTES, to `wire` ... */
    APS_DEVICE_GET  /* ... and from there */
};
#define APS_DEVICE_STEP_BYTES 16
struct aps_device_step {
    enum aps_device_verb verb;
    const struct aps_codec *codec; /* unused for the magnitude */
    void *x;                       /* written only by decode */
    size_t n;
    void *wire; /* written by encode and put */
    struct aps_scaling scaling;
    struct aps_cast_options options; /* used by encode */
    bool add;                        /* used by decode on a device's wire */
    unsigned flags;                  /* read by decode, written by encode */
    struct aps_magnitude magnitude;  /* output */
    unsigned char
        bytes[APS_DEVICE_STEP_BYTES]; /* read by put, written by get */
};

/* Most steps between two waits for the device. */
#define APS_DEVICE_STEPS 64

/*
 * Wire bytes in a device's memory. Verbs are complete when they return, and
 * thread-safe; x is in device or managed memory, of the same or another
 * context.
 *
 * encode, decode, put and get return -1 on failure: it counts among the
 * backend's failures, which the backend must have, and the output is zeros, if
 * the device can still write them. The other verbs give the cause of a failure,
 * and do not count it. allocate, release, open and close may wait for all work
 * of the device.
 */
struct aps_device_memory {
    /* Allocates memory on the device of `near`, at a multiple of 256 bytes;
     * NULL with the cause. */
    void *(*allocate)(const void *near, size_t bytes, char *cause, size_t size);
    void (*release)(void *memory); /* from allocate; NULL is allowed */

    /* True if memory that allocate or open returned still exists. False if the
     * program has destroyed or reset the context: then the address may be in
     * use for something else, and the verbs must not touch it. */
    bool (*holds)(const void *memory);

    /* Checks that the verbs below work with such memory, of 4 KiB at least, and
     * sets up their resources. Returns 0, or -1 with the cause, which does not
     * count as a failure. */
    int (*probe)(void *memory, char *cause, size_t size);

    /* See struct aps_codec. encode adds to *stats (NULL: not counted) unless it
     * fails; `options` NULL: to nearest. `add`: x[i] += value i, FP32. Fastest for a
     * wire at multiples of 16 bytes. */
    int (*encode)(const struct aps_codec *codec, const float *x, size_t n,
                  struct aps_scaling scaling,
                  const struct aps_cast_options *options, void *wire,
                  struct aps_encode_stats *stats);
    int (*decode)(const struct aps_codec *codec, const void *wire, size_t n,
                  struct aps_scaling scaling, unsigned flags, bool add,
                  float *x);

    /*
     * Runs steps, each of which sees the results of the previous ones. Waits
     * once for the device for every APS_DEVICE_STEPS of them, if kernels of the
     * context of x can access all of their memory, and once for each step
     * otherwise. -1: a failure that counts, after which the outputs have any
     * value.
     */
    int (*run)(struct aps_device_step steps[], size_t count);

    /* Copy a few bytes between such memory and the host's. */
    int (*put)(void *to, const void *host, size_t bytes);
    int (*get)(void *host, const void *from, size_t bytes);

    /* Memory that other processes of this machine have allocated. `offer` makes
     * a token of it; `open`, in another process, gives an address that the
     * verbs of `near`'s device take as `wire`, until `close`. -1 or NULL with
     * the cause. The owner must not release it before all have closed it. */
    int (*offer)(void *memory, struct aps_memory_token *token, char *cause,
                 size_t size);
    void *(*open)(const struct aps_memory_token *token, const void *near,
                  char *cause, size_t size);
    void (*close)(void *opened);
};

/* True if a device's kernels support the format, which is the same for all
 * devices. False if the scale of a block is in FP32 (qsgdS/B, intB/BUCKET,
 * sign/B). Verbs of memory encode and decode other formats on the host; verbs
 * of device memory must not be called with them. */
bool aps_device_takes(const struct aps_format *format);

/* x[n] is in this backend's memory or in the host's, in elements of `element` bytes. A
 * verb is complete when it returns; all are thread-safe. A verb that fails counts
 * among `failures`, and leaves zeros in its output, if it can. */
struct aps_memory {
    const char *name; /* name for messages: "host", "cuda", ... */
    size_t element;   /* size of an element, in bytes */

    /* Returns the greatest finite |x[i]|, and whether all are known to be
     * finite. */
    struct aps_magnitude (*magnitude)(const void *x, size_t n);

    /* See struct aps_codec. encode adds to *stats (NULL: not counted) unless it
     * fails; `options` NULL: to nearest. */
    unsigned (*encode)(const struct aps_codec *codec, const void *x, size_t n,
                       struct aps_scaling scaling,
                       const struct aps_cast_options *options, void *wire,
                       struct aps_encode_stats *stats);
    void (*decode)(const struct aps_codec *codec, const void *wire, size_t n,
                   struct aps_scaling scaling, unsigned flags, void *x);

    /*
     * Runs any number of steps that encode, decode and measure; the wire is in
     * host memory, and no step reads or writes the output of another. Waits
     * once for the device for as many steps as it transfers at a time (at most
     * APS_DEVICE_STEPS), and once for each step that the device cannot run.
     * Each step fails like its verb. May be NULL: the verbs are as good.
     */
    void (*run)(struct aps_device_step steps[], size_t count);

    /* Returns true if one thread must make the whole of a verb on x: x is in a
     * GPU's memory. May be NULL: it never is, or `run` says it. */
    bool (*whole)(const void *x);

    /* Copy to and from host memory, where the n values are FP32, or doubles with
     * aps_memory_doubles (pmpi/device). */
    void (*copy_out)(float *host, const void *x, size_t n);
    void (*copy_in)(void *x, const float *host, size_t n);

    /* Locks host memory, whole pages, so that the driver's copies are fastest;
     * it stays ordinary memory. Returns 0, or -1 if it is not locked. May be
     * NULL: neither is needed. */
    int (*pin)(void *host, size_t bytes, const void *near);
    void (*unpin)(void *host); /* memory that pin has locked */

    /* Verbs for wire bytes in a device's memory, or NULL. */
    const struct aps_device_memory *device;

    /* Returns the number of failed verbs of this process; if it is not 0,
     * cause[size] gets the cause of the last. May be NULL: verbs never fail. */
    unsigned long (*failures)(char *cause, size_t size);
};

/* Ordinary memory, of FP32 values. */
extern const struct aps_memory aps_memory_host;

/* Returns the address of x[i]. */
static inline void *aps_memory_at(const struct aps_memory *memory,
                                  const void *x, size_t i)
{
    return (unsigned char *)(uintptr_t)x + i * memory->element;
}

#endif
