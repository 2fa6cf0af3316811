/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections of selected elements: they decode to the same elements. Bytes that
 * have changed, or are too few, decode to elements of the slice or to an error,
 * never to more elements.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compressed/elements.h"
#include "number/parse.h"
#include "unit/common/rounded.h"
#include "tests/tap/tap.h"

#define LENGTH 200
#define BEGIN 1000
#define SECTION 2048
#define GUARD 0xa5a5a5a5u
#define TURNS 20000

static uint32_t indices[LENGTH + 1];
static float values[LENGTH + 1];

static struct aps_elements room(size_t length)
{
    memset(indices, 0xa5, sizeof indices);
    memset(values, 0xa5, sizeof values);
    return (struct aps_elements){
        .slice = {BEGIN, length}, .indices = indices, .values = values};
}

static size_t encode(const struct aps_wire *wire, size_t length, unsigned every,
                     bool bad, unsigned char *section)
{
    const struct aps_block key = {.ranks = 1};
    struct aps_elements elements = room(length);
    struct aps_cost cost = {0};

    elements.bad = bad;
    for (size_t i = 0; i < length && !bad; i += every) {
        indices[elements.count] = (uint32_t)(BEGIN + i);
        values[elements.count++] = (float)i + 1;
    }
    return aps_elements_encode(wire, key, &elements, &cost, section);
}

static bool comes_back(const struct aps_wire *wire, size_t length,
                       unsigned every)
{
    unsigned char section[SECTION];
    const size_t bytes = encode(wire, length, every, false, section);
    struct aps_elements elements = room(length);
    float sum[LENGTH + 1] = {0};
    bool same = bytes <= aps_elements_max(wire, length, length) &&
                aps_elements_decode(wire, section, bytes, &elements) == bytes &&
                !elements.bad;

    aps_elements_add(&elements, sum);
    for (size_t i = 0; i < length; i++)
        same &= sum[i] == (i % every == 0 ? (float)i + 1 : 0);
    return same;
}

/* Elements of the slice, ascending, or an error. */
static bool holds(const struct aps_elements *elements)
{
    const struct aps_slice slice = elements->slice;
    bool all = elements->count <= slice.length &&
               !(elements->bad && elements->count > 0) &&
               indices[slice.length] == GUARD &&
               aps_float_bits(values[slice.length]) == GUARD;

    for (size_t i = 0; all && i < elements->count; i++)
        all = indices[i] >= slice.begin &&
              indices[i] < slice.begin + slice.length &&
              (i == 0 || indices[i] > indices[i - 1]);
    return all;
}

static bool survives(const struct aps_wire *wire, unsigned char *section,
                     size_t bytes, size_t length)
{
    const size_t of = random_bits() % 4 ? bytes : random_bits() % (bytes + 1);
    unsigned char *exact = malloc(of + 1); /* a sanitizer finds reads beyond */
    struct aps_elements elements = room(length), skipped = room(length);
    size_t taken;
    bool good;

    memcpy(exact, section, of);
    taken = aps_elements_decode(wire, exact, of, &elements);
    good = taken <= of &&
           taken == aps_elements_skip(wire, exact, of, &skipped) &&
           holds(&elements) && (!skipped.bad || elements.bad) &&
           (!elements.damaged || elements.bad);
    free(exact);
    return good;
}

int main(void)
{
    struct aps_plan plan = {.scale = {.kind = APS_SCALE_NONE}};
    struct aps_wire wire, full;
    unsigned char section[SECTION];
    struct aps_elements elements = room(LENGTH);
    bool right = true, bounded = true;
    size_t bytes;

    if (aps_format_parse("e5m10", &plan.format, NULL) < 0)
        return 99;
    aps_elements_wire(&plan, false, &wire);
    aps_elements_wire(&plan, true, &full);
    for (size_t length = 0; length <= LENGTH; length += 1 + length / 7)
        for (unsigned every = 1; every < 40; every += 3)
            right &= comes_back(&wire, length, every) &&
                     comes_back(&full, length, every);
    ok(right, "some, all and none of a slice come back");
    bytes = encode(&wire, LENGTH, 1, true, section);
    ok(bytes == 8 &&
           aps_elements_skip(&wire, section, bytes, &elements) == bytes &&
           elements.bad && !elements.damaged,
       "bad sections are reported");
    section[4] = 0x7f;
    (void)aps_elements_skip(&wire, section, bytes, &elements);
    ok(elements.bad && elements.damaged, "damaged sections are reported");
    for (int turn = 0; turn < TURNS; turn++) {
        const size_t length = 1 + random_bits() % LENGTH;

        memset(section, 0, sizeof section);
        bytes = encode(&wire, length, 1 + random_bits() % 9, false, section);
        for (unsigned i = random_bits() % 4; i > 0; i--)
            section[random_bits() % (random_bits() % 2 ? 8 : bytes)] ^=
                (unsigned char)random_bits();
        bounded &= survives(&wire, section, bytes, length);
    }
    ok(bounded, "bytes that have changed, or are cut off, are elements of the "
                "slice or bad");
    return done_testing();
}
