/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory backends: the verbs that the reductions are written against, once, for
 * any kind of memory that the program's buffers live in. Wire bytes are the
 * same whatever the backend: ranks may differ. They lie in host memory, or, by
 * verbs that not all backends have, in a device's.
 */
#ifndef APS_CODEC_MEMORY_H
#define APS_CODEC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/codec.h"

/* Says to other processes of this machine which memory is meant; only bytes. */
struct aps_memory_token {
    unsigned char bytes[128];
};

/* A step of work on a device's memory: a verb of struct aps_device_memory or of
 * struct aps_memory, with the wire where theirs is, or the magnitude of values. */
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
    const struct aps_codec *codec; /* not of the magnitude */
    float *x;                      /* which only decode writes */
    size_t n;
    void *wire; /* which encode and put write */
    struct aps_scaling scaling;
    struct aps_cast_options options; /* of encode */
    bool add;                        /* of decode, on a device's wire */
    unsigned flags;                  /* of decode; encode writes it */
    struct aps_magnitude magnitude;  /* is written */
    unsigned char bytes[APS_DEVICE_STEP_BYTES]; /* put; get writes them */
};

/* So many steps are waited for together, at most. */
#define APS_DEVICE_STEPS 64

/*
 * Wire bytes in a device's memory. Verbs are done when they return, and thread-
 * safe; x is in device or managed memory, of the same or another context.
 *
 * encode, decode, put and get return -1 where they fail: that counts among the
 * backend's failures, which it must have, and zeros are left, if the device can
 * still write them. What else fails gives its cause, and does not count.
 * allocate, release, open and close may wait for all that the device is doing.
 */
struct aps_device_memory {
    /* On the device whose memory `near` points into, at a multiple of 256
     * bytes; NULL with the cause. */
    void *(*allocate)(const void *near, size_t bytes, char *cause, size_t size);
    void (*release)(void *memory); /* NULL: nothing; what allocate returned */

    /* Is it still there, what allocate or open returned? Not where the program has
     * destroyed or reset the context: then something else may be there, which the
     * verbs must not touch. */
    bool (*holds)(const void *memory);

    /* Do the verbs below work with such memory, of 4 KiB at least? What they
     * need for that they have from then on. 0, or -1 with the cause, which does
     * not count as a failure. */
    int (*probe)(void *memory, char *cause, size_t size);

    /* See struct aps_codec; `add`: x[i] += value i, FP32. Fastest for wire at
     * multiples of 16 bytes. */
    int (*encode)(const struct aps_codec *codec, const float *x, size_t n,
                  struct aps_scaling scaling, void *wire);
    int (*decode)(const struct aps_codec *codec, const void *wire, size_t n,
                  struct aps_scaling scaling, unsigned flags, bool add,
                  float *x);

    /* encode with `options` (NULL: to nearest), which adds to *stats (NULL: to
     * none) unless it fails. */
    int (*encode_stats)(const struct aps_codec *codec, const float *x, size_t n,
                        struct aps_scaling scaling,
                        const struct aps_cast_options *options, void *wire,
                        struct aps_encode_stats *stats);

    /*
     * Steps, each of which sees what the previous ones have written. One wait
     * for the device for every APS_DEVICE_STEPS of them, if kernels of the
     * context of x reach all that they need, and for each of them otherwise.
     * -1: a failure that counts, after which anything may stand where a step
     * was to write.
     */
    int (*run)(struct aps_device_step steps[], size_t count);

    /* A few bytes, between such memory and the host's. */
    int (*put)(void *to, const void *host, size_t bytes);
    int (*get)(void *host, const void *from, size_t bytes);

    /*
     * Memory that others of this machine have allocated. `offer` makes a token
     * of it; `open`, in another process, gives an address that the verbs of
     * `near`'s device take as `wire`, until `close`. -1 or NULL with the cause.
     * The owner must not release it before all have closed it.
     */
    int (*offer)(void *memory, struct aps_memory_token *token, char *cause,
                 size_t size);
    void *(*open)(const struct aps_memory_token *token, const void *near,
                  char *cause, size_t size);
    void (*close)(void *opened);
};

/* Do a device's kernels know the format? The same for all devices: not where the
 * scale of a block is in FP32 (qsgdS/B, intB/BUCKET, sign/B). Verbs of memory
 * encode and decode others on the host; verbs of device memory must not be asked
 * to. */
bool aps_device_takes(const struct aps_format *format);

/*
 * x is in this backend's memory or in the host's. A verb is done when it
 * returns; all are thread-safe. One that fails counts among `failures`, and
 * leaves zeros where it was to write, if it can.
 */
struct aps_memory {
    const char *name; /* "host", "cuda", ...: for messages */

    /* Greatest finite |x[i]|, and whether all are known to be finite. */
    struct aps_magnitude (*magnitude)(const float *x, size_t n);

    /* See struct aps_codec. */
    unsigned (*encode)(const struct aps_codec *codec, const float *x, size_t n,
                       struct aps_scaling scaling, void *wire);
    void (*decode)(const struct aps_codec *codec, const void *wire, size_t n,
                   struct aps_scaling scaling, unsigned flags, float *x);

    /* encode with `options` (NULL: to nearest), which adds to *stats (NULL: to
     * none) unless it fails. */
    unsigned (*encode_stats)(const struct aps_codec *codec, const float *x,
                             size_t n, struct aps_scaling scaling,
                             const struct aps_cast_options *options, void *wire,
                             struct aps_encode_stats *stats);

    /*
     * Steps that encode, decode and measure, of any number; the wire is in host
     * memory, and what one writes no other reads or writes. One wait for the
     * device for as many as fit what it transfers at a time (APS_DEVICE_STEPS at
     * most), and for each of those that the verbs above cannot do on the device.
     * Each fails as its verb does. NULL: the verbs do as well.
     */
    void (*run)(struct aps_device_step steps[], size_t count);

    /* To and from host memory. */
    void (*copy_out)(void *host, const float *x, size_t n);
    void (*copy_in)(float *x, const void *host, size_t n);

    /* Lock host memory, whole pages, so that the driver's copies are fastest;
     * it is ordinary memory all the same. 0, or -1: it is not locked. NULL:
     * neither is needed. */
    int (*pin)(void *host, size_t bytes, const void *near);
    void (*unpin)(void *host); /* what pin has locked */

    /* NULL: it has none. */
    const struct aps_device_memory *device;

    /* How many verbs have failed in this process so far; if any, cause[size]
     * says why the last did. NULL: they never do. */
    unsigned long (*failures)(char *cause, size_t size);
};

/* Ordinary memory. */
extern const struct aps_memory aps_memory_host;

#endif
