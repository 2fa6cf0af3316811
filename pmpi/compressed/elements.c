/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compressed/elements.h"

#include <string.h>

#include "compress/indices.h"
#include "number/parse.h"

/* Header of a section, in the byte order of the machine. */
struct header {
    uint32_t count; /* number of elements sent */
    uint32_t flags;
};
#define FLAG_BAD 1u
#define FLAG_DAMAGED 2u /* set by a receiver */

#define ALIGNED 4

static size_t elements_aligned(size_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

void aps_elements_wire(const struct aps_plan *plan, bool full,
                       struct aps_wire *wire)
{
    struct aps_format format = plan->format;

    *wire = (struct aps_wire){
        .memory = &aps_memory_host,
        .scale = plan->scale,
        .accumulate = APS_ACCUMULATE_FP32,
    };
    if (full) {
        (void)aps_format_parse("e8m23", &format, NULL);
        wire->scale = (struct aps_scale){.kind = APS_SCALE_NONE};
    }
    aps_codec_init(&format, &wire->codec);
}

/* Returns the bytes of the indices; a section with all elements needs none. */
static size_t elements_indices(size_t k, size_t n)
{
    return k < n ? elements_aligned(aps_indices_bytes(k, n)) : 0;
}

static size_t elements_bytes(const struct aps_wire *wire, size_t k, size_t n)
{
    return sizeof(struct header) + elements_indices(k, n) +
           elements_aligned(aps_block_bytes(wire, k));
}

/* A format of signs has no zero. */
static bool elements_keep_zeros(const struct aps_wire *wire)
{
    return wire->codec.format.draws != APS_FORMAT_DRAWS_NEVER;
}

/* True if all elements are sent, because that takes fewer bytes. */
static bool elements_are_dense(const struct aps_wire *wire, size_t k, size_t n)
{
    return k > 0 && elements_keep_zeros(wire) &&
           elements_bytes(wire, n, n) < elements_bytes(wire, k, n);
}

size_t aps_elements_max(const struct aps_wire *wire, size_t k, size_t n)
{
    const size_t most = k < n ? k : n;
    const size_t all = elements_bytes(wire, n, n);
    /* A section with all elements needs no indices, one with all but one
     * does. */
    const size_t some = elements_bytes(wire, most - (most == n && n > 0), n);

    if (elements_keep_zeros(wire))
        return most == n || all < some ? all : some;
    return most == n && all > some ? all : some;
}

void aps_elements_gather(const uint32_t *indices, size_t k, const float *x,
                         struct aps_elements *elements)
{
    const struct aps_slice slice = elements->slice;
    const size_t first = aps_indices_below(indices, k, slice.begin);
    const size_t end =
        aps_indices_below(indices, k, slice.begin + slice.length);

    elements->count = end - first;
    memcpy(elements->indices, indices + first,
           elements->count * sizeof *indices);
    for (size_t i = 0; i < elements->count; i++)
        elements->values[i] = x[elements->indices[i]];
}

void aps_elements_find(const float *x, struct aps_elements *elements)
{
    size_t count = 0;

    /* Writes without a branch: an entry that is not counted is overwritten. */
    for (size_t i = 0; i < elements->slice.length; i++) {
        elements->indices[count] = (uint32_t)(elements->slice.begin + i);
        elements->values[count] = x[i];
        count += x[i] != 0;
    }
    elements->count = count;
}

/* Spreads the elements over the slice, in place, from the last one on. */
static void elements_widen(struct aps_elements *elements)
{
    size_t next = elements->count;

    for (size_t i = elements->slice.length; i-- > 0;) {
        const uint32_t index = (uint32_t)(elements->slice.begin + i);
        const bool is = next > 0 && elements->indices[next - 1] == index;

        elements->values[i] = is ? elements->values[next - 1] : 0;
        elements->indices[i] = index;
        next -= is;
    }
    elements->count = elements->slice.length;
}

size_t aps_elements_encode(const struct aps_wire *wire, struct aps_block block,
                           struct aps_elements *elements, struct aps_cost *cost,
                           unsigned char *to)
{
    const size_t n = elements->slice.length;
    const bool bad = elements->bad;
    struct header header = {0, bad ? FLAG_BAD : 0};
    unsigned char *indices = to + sizeof header, *values;
    size_t bytes;

    if (!bad && elements_are_dense(wire, elements->count, n))
        elements_widen(elements);
    header.count = bad ? 0 : (uint32_t)elements->count;
    bytes = header.count > 0 ? elements_bytes(wire, elements->count, n)
                             : sizeof header;
    memset(to, 0, bytes);
    memcpy(to, &header, sizeof header);
    if (header.count == 0)
        return bytes;
    values = indices + elements_indices(header.count, n);
    if (header.count < n)
        aps_indices_encode(elements->indices, header.count,
                           (uint32_t)elements->slice.begin, n, indices);
    block.memory = &aps_memory_host;
    block.x = elements->values;
    block.n = header.count;
    block.first = elements->slice.begin;
    aps_cost_note(cost, aps_block_encode(wire, &block, values));
    return bytes;
}

/* Reads the header of a section and returns its bytes. A `room` that does not
 * hold a section is damaged. */
static size_t elements_open(const struct aps_wire *wire,
                            const unsigned char *from, size_t room, size_t n,
                            struct header *header)
{
    size_t bytes = sizeof *header;

    if (room >= sizeof *header) {
        memcpy(header, from, sizeof *header);
        if (header->count > 0 && header->count <= n)
            bytes = elements_bytes(wire, header->count, n);
    }
    if (room >= bytes && header->count <= n && header->flags <= FLAG_BAD)
        return bytes;
    *header = (struct header){0, FLAG_DAMAGED};
    return room;
}

size_t aps_elements_skip(const struct aps_wire *wire, const unsigned char *from,
                         size_t room, struct aps_elements *elements)
{
    struct header header = {0, FLAG_BAD};
    const size_t bytes =
        elements_open(wire, from, room, elements->slice.length, &header);

    elements->bad = header.flags != 0;
    elements->damaged |= header.flags > FLAG_BAD;
    elements->count = elements->bad ? 0 : header.count;
    return bytes;
}

size_t aps_elements_decode(const struct aps_wire *wire,
                           const unsigned char *from, size_t room,
                           struct aps_elements *elements)
{
    const size_t n = elements->slice.length;
    const unsigned char *indices = from + sizeof(struct header);
    const size_t bytes = aps_elements_skip(wire, from, room, elements);
    const size_t count = elements->count;

    if (count == 0)
        return bytes;
    if (count == n)
        for (size_t i = 0; i < n; i++)
            elements->indices[i] = (uint32_t)(elements->slice.begin + i);
    else if (aps_indices_decode(indices, count, (uint32_t)elements->slice.begin,
                                n, elements->indices) < 0) {
        elements->bad = elements->damaged = true;
        elements->count = 0;
    }
    aps_block_decode(wire, &aps_memory_host,
                     indices + elements_indices(count, n), count,
                     elements->values);
    return bytes;
}

void aps_elements_add(const struct aps_elements *elements, float *sum)
{
    for (size_t i = 0; i < elements->count; i++)
        sum[elements->indices[i] - elements->slice.begin] +=
            elements->values[i];
}
