/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "wire/pipeline_sizes.h"

#include "wire/buffer_depth.h"

/*
 * How the sizes were found: tests/bench/allreduce.sh lab, two hosts at 1
 * Gbit/s, 4 Mi and 25.6 Mi floats, MPICH over UCX over TCP. Share of the wire's
 * rate, by the length of a message: 16 KiB 0.95, 32 KiB 0.87-0.94, 64 KiB
 * 0.74-0.95, 128 KiB and more 0.55-0.75, because UCX asks the receiver before
 * it sends long ones, which costs a round trip each. By the lag, with 1 ms of
 * delay: 4 rounds 0.88, 8 and 16 rounds 0.93; without delay all are equal.
 */
#define CHUNK_BYTES ((size_t)512 * 1024)
#define MESSAGE_MAX ((size_t)16 * 1024)
#define MESSAGE_MIN ((size_t)1024)

/* A wait for a kernel takes about 10 us, and a chunk has 5 of them, in which a
 * network of 40 GB/s carries 2 MiB. Calculated, not measured. */
#define DEVICE_CHUNK_BYTES ((size_t)2 * 1024 * 1024)
#define DEVICE_MESSAGE_MAX ((size_t)1024 * 1024)

/* In bytes. By tests/bench/threads, two threads are 1.2 times as fast as one for
 * messages of 32 Ki elements of 8 bits, 1.5 times for 64 Ki and 1.6 times for 128
 * Ki. */
#define THREADS_MESSAGE_MAX ((size_t)128 * 1024)

/*
 * Elements of a chunk of a group. Its slots stay in cache: 32 Ki to 128 Ki are
 * equal within the noise of tests/bench/allreduce.sh node. The chunk is longer
 * if it is cut into many messages, or if many ranks of a single group wait for
 * each other.
 */
#define GROUP_CHUNK_MIN ((size_t)64 * 1024)
#define GROUP_CHUNK_MAX ((size_t)256 * 1024)
#define GROUP_MESSAGE_MIN ((size_t)1024)
#define GROUP_ALONE_SLICE_MIN ((size_t)16 * 1024)
#define SINGLE_GROUP_CHUNK_MAX ((size_t)128 * 1024)

/*
 * Chunks are shorter if they would not fit into the 64 MiB of shared memory
 * that a container gets by default; a single group leaves memory for the groups
 * of other communicators. All formats of up to so large a granule fit; formats
 * of up to 4096 take more.
 */
#define GROUP_SHARED_BYTES ((size_t)48 * 1024 * 1024)
#define GROUP_ALONE_SHARED_BYTES ((size_t)20 * 1024 * 1024)
#define GROUP_GRANULE ((size_t)256)

static size_t pipeline_message_bytes(int ranks,
                                     enum aps_pipeline_messages messages)
{
    static const struct {
        size_t chunk, most;
    } sizes[] = {
        [APS_PIPELINE_HOST] = {CHUNK_BYTES, MESSAGE_MAX},
        [APS_PIPELINE_FP32] = {CHUNK_BYTES, MESSAGE_MAX},
        [APS_PIPELINE_THREADS] = {DEVICE_CHUNK_BYTES, THREADS_MESSAGE_MAX},
        [APS_PIPELINE_DEVICES] = {DEVICE_CHUNK_BYTES, DEVICE_MESSAGE_MAX},
    };
    const size_t bytes = sizes[messages].chunk / (size_t)ranks;

    if (bytes < MESSAGE_MIN)
        return MESSAGE_MIN;
    return bytes < sizes[messages].most ? bytes : sizes[messages].most;
}

size_t aps_pipeline_elements_of(const struct aps_codec *codec, int ranks,
                                enum aps_pipeline_messages messages)
{
    const size_t bytes = pipeline_message_bytes(ranks, messages);
    const size_t elements = messages == APS_PIPELINE_FP32
                                ? aps_codec_elements_fp32(codec, bytes)
                                : aps_codec_elements(codec, bytes);

    return elements > 0 ? elements : aps_codec_granule(codec);
}

size_t aps_pipeline_elements(const struct aps_codec *codec, int ranks)
{
    return aps_pipeline_elements_of(codec, ranks, APS_PIPELINE_HOST);
}

/* A format wider than FP32 has the least granule, which has room for twice as much. */
size_t aps_pipeline_room_of(int ranks, size_t granule,
                            enum aps_pipeline_messages messages)
{
    const size_t bytes = pipeline_message_bytes(ranks, messages);
    const size_t least = granule * sizeof(float);

    return bytes > least ? bytes : least;
}

size_t aps_pipeline_room(int ranks, size_t granule)
{
    return aps_pipeline_room_of(ranks, granule, APS_PIPELINE_HOST);
}

size_t aps_pipeline_elements_max(int ranks, size_t granule)
{
    return aps_codec_elements_max(aps_pipeline_room(ranks, granule));
}

/* The first of these fits a message of MESSAGE_MIN in any case. */
size_t aps_pipeline_granule(const struct aps_format *format)
{
    const struct aps_codec codec = {.format = *format};
    size_t granule = MESSAGE_MIN / sizeof(float);

    while (granule < aps_codec_granule(&codec))
        granule *= 4;
    return granule;
}

/* --- of a group's chunks --------------------------------------------------- */

/* Returns the greatest length, in elements, if n elements are cut into `parts`
 * slices. */
static size_t pipeline_slice(size_t n, size_t granule, size_t parts)
{
    const size_t units = (n + granule - 1) / granule;

    return (units + parts - 1) / parts * granule;
}

static size_t pipeline_group_block(size_t n)
{
    return n * sizeof(float) + APS_PIPELINE_GROUP_HEADER;
}

size_t aps_pipeline_group_slot(size_t chunk, int owners, size_t granule)
{
    const size_t slice =
        pipeline_slice(chunk, APS_CODEC_GRANULE, (size_t)owners);

    return (size_t)owners *
           pipeline_group_block(slice + granule - APS_CODEC_GRANULE);
}

/* Returns the number of parts of an owner's slice. Empty parts come last and
 * take no memory. */
static size_t pipeline_group_parts(size_t slice, size_t parts, size_t granule)
{
    const size_t units = slice / granule;

    return (units < parts ? units : parts) *
           pipeline_group_block(pipeline_slice(slice, granule, parts));
}

size_t aps_pipeline_group_result(size_t chunk, int owners, int parts,
                                 size_t granule)
{
    size_t most = 0;

    for (size_t cut = APS_CODEC_GRANULE; cut <= granule;
         cut += APS_CODEC_GRANULE) {
        const size_t slice = pipeline_slice(chunk, cut, (size_t)owners);
        const size_t bytes = pipeline_group_parts(slice, (size_t)parts, cut);

        if (bytes > most)
            most = bytes;
    }
    return most;
}

/* Returns the bytes of shared memory for chunks of `chunk` elements. */
static size_t pipeline_group_bytes(size_t chunk, int owners, int parts,
                                   int ranks)
{
    const size_t turns =
        parts > 1 ? APS_RESULT_DEPTH : APS_SINGLE_GROUP_RESULT_DEPTH;

    return APS_SLOT_DEPTH * (size_t)ranks *
               aps_pipeline_group_slot(chunk, owners, GROUP_GRANULE) +
           turns * (size_t)owners *
               aps_pipeline_group_result(chunk, owners, parts, GROUP_GRANULE);
}

size_t aps_pipeline_group_elements(int owners, int parts, int ranks)
{
    const bool alone = parts == 1;
    const size_t few = (size_t)owners * APS_CODEC_GRANULE;
    const size_t part = alone ? GROUP_ALONE_SLICE_MIN : GROUP_MESSAGE_MIN;
    const size_t most = alone ? SINGLE_GROUP_CHUNK_MAX : GROUP_CHUNK_MAX;
    const size_t bytes = alone ? GROUP_ALONE_SHARED_BYTES : GROUP_SHARED_BYTES;
    size_t chunk = (size_t)owners * (size_t)parts * part;

    if (chunk < GROUP_CHUNK_MIN)
        chunk = GROUP_CHUNK_MIN;
    if (chunk > most)
        chunk = most;
    while (chunk > few &&
           pipeline_group_bytes(chunk, owners, parts, ranks) > bytes)
        chunk = chunk / 2 > few
                    ? chunk / 2 / APS_CODEC_GRANULE * APS_CODEC_GRANULE
                    : few;
    return chunk;
}

/*
 * Measured by tests/bench/paired.sh, two hosts of two ranks at 1 Gbit/s, 25.6
 * Mi floats, 2 cores: e3m0 takes 0.63 of the time in chunks of 128 Ki elements,
 * which have half as many messages as chunks of 64 Ki. Wider codes do not gain
 * by shorter chunks: e5m10 takes 1.06 times as long in chunks of 32 Ki, and
 * FP32 values 1.2 times.
 */
size_t aps_pipeline_group_elements_across(const struct aps_codec *codec,
                                          size_t chunk)
{
    const size_t granule = aps_codec_granule(codec);
    const size_t most = APS_PIPELINE_GROUP_NARROW * chunk / granule * granule;
    const size_t cut = (chunk + granule - 1) / granule * granule;
    const size_t bytes = chunk; /* 8 bits a value */
    size_t n = aps_codec_elements(codec, bytes);

    if (n > most)
        n = most;
    return n > cut ? n : cut;
}

/* Returns the elements of one owner's slice; 0 if not even a granule fits. */
static size_t pipeline_group_slice(const struct aps_codec *codec, int owners,
                                   size_t chunk, size_t most)
{
    const size_t granule = aps_codec_granule(codec);
    const size_t slice =
        pipeline_slice(chunk, APS_CODEC_GRANULE, (size_t)owners);
    const size_t n = aps_codec_elements(codec, slice * sizeof(float));

    return n < most ? n : most / granule * granule;
}

/*
 * A rank waits for all others a few times a chunk, and if ranks share cores
 * each wait is a switch between them. Measured with 25.6 Mi floats in e4m3 on 2
 * cores, relative to chunks of 64 Ki elements: in 128 Ki, 256 Ki and 512 Ki 8
 * ranks take 0.87, 0.79 and 0.72 of the time, 4 ranks 0.86, 0.76 and 0.70, and
 * 2 ranks, each with a core, 1.
 */
size_t aps_pipeline_single_group_elements(const struct aps_codec *codec,
                                          int owners, size_t chunk, size_t most)
{
    const size_t granule = aps_codec_granule(codec);
    const size_t least = (chunk + granule - 1) / granule * granule;
    const size_t n =
        (size_t)owners * pipeline_group_slice(codec, owners, chunk, most);

    return n > least ? n : least;
}
