/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Indices on the wire: the bits of the definition, encoding and decoding, and
 * bytes that do not encode indices.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compress/indices.h"
#include "unit/common/rounded.h"

#define N_MAX 5000
#define GUARD 0xa5

static uint32_t chosen[N_MAX], back[N_MAX + 1];
static uint8_t wire[4 * N_MAX + 8], expected[4 * N_MAX + 8];

/* Chooses k of n, ascending: each with the probability that it needs (Knuth's S). */
static void choose(size_t k, size_t n, uint32_t base)
{
    size_t found = 0;

    for (size_t i = 0; i < n && found < k; i++) {
        if (random_bits() % (n - i) < k - found)
            chosen[found++] = base + (uint32_t)i;
    }
}

static void set_bit(size_t bit)
{
    expected[bit / 8] |= (uint8_t)(1u << bit % 8);
}

/* Encodes by the definition. Returns the number of bytes. */
static size_t encode_by_definition(size_t k, size_t n, uint32_t base)
{
    size_t width = 0, bits;

    while (((size_t)1 << width) < n)
        width++;
    memset(expected, 0, sizeof expected);
    bits = k * width <= n ? k * width : n;
    for (size_t i = 0; i < k; i++) {
        size_t index = chosen[i] - base;

        if (k * width > n)
            set_bit(index);
        for (size_t b = 0; b < width && k * width <= n; b++) {
            if (index >> b & 1)
                set_bit(i * width + b);
        }
    }
    return (bits + 7) / 8;
}

static bool agrees(size_t k, size_t n, uint32_t base)
{
    size_t bytes;

    choose(k, n, base);
    bytes = encode_by_definition(k, n, base);
    memset(wire, GUARD, sizeof wire);
    memset(back, GUARD, sizeof back);
    aps_indices_encode(chosen, k, base, n, wire);
    return aps_indices_bytes(k, n) == bytes &&
           memcmp(wire, expected, bytes) == 0 && wire[bytes] == GUARD &&
           aps_indices_decode(wire, k, base, n, back) == 0 &&
           memcmp(back, chosen, k * sizeof *back) == 0 &&
           back[k] == 0xa5a5a5a5u;
}

static void test_round_trips(void)
{
    static const size_t sizes[] = {1, 2, 3, 8, 9, 63, 64, 65, 1000, 4096, 4097};
    bool small = true, large = true, sliced = true;

    for (size_t n = 1; n <= 40; n++) {
        for (size_t k = 0; k <= n; k++)
            small &= agrees(k, n, 0);
    }
    ok(small, "all k of up to 40 elements: as defined, and back");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int j = 0; j < 60; j++) {
            large &= agrees(random_bits() % (sizes[i] + 1), sizes[i], 0);
            sliced &= agrees(random_bits() % (sizes[i] + 1), sizes[i],
                             random_bits() % 1000000);
        }
    }
    ok(large, "random k of more elements: as defined, and back");
    ok(sliced, "... and of a slice that begins elsewhere");
}

static void test_bytes(void)
{
    ok(aps_indices_bytes(268435, 26843545) == (size_t)(268435 * 25 + 7) / 8,
       "1 %% of 25.6 Mi elements takes 25 bits an index");
    ok(!aps_indices_is_bitmap(8, 80) && aps_indices_is_bitmap(12, 80),
       "8 of 80 indices are packed, 12 are a bitmap");
    ok(!aps_indices_is_bitmap(16, 64) || aps_indices_bytes(16, 64) == 8,
       "no form takes more than a bit an element");
    ok(aps_indices_width((size_t)1 << 31) == 31 &&
           aps_indices_width(((size_t)1 << 31) + 1) == 32 &&
           aps_indices_width(UINT32_MAX) == 32,
       "widths up to 32 bits");
    ok(aps_indices_bytes(1, 1) == 0 && aps_indices_bytes(0, 1000) == 0,
       "the only element and no element take no byte");
}

/* Indices of 32 bits: two of them fill the accumulator. */
static void test_wide(void)
{
    static const uint32_t wide[] = {0, 1, 0x7fffffff, 0xfffffffd, 0xfffffffe};

    aps_indices_encode(wide, 5, 0, UINT32_MAX, wire);
    ok(aps_indices_bytes(5, UINT32_MAX) == 20 &&
           aps_indices_decode(wire, 5, 0, UINT32_MAX, back) == 0 &&
           memcmp(back, wide, sizeof wide) == 0,
       "indices up to 2^32 - 2");
}

/* Decoding of `wire` fails, and writes nothing after k indices. */
static bool refused(size_t k, size_t n)
{
    memset(back, GUARD, sizeof back);
    errno = 0;
    return aps_indices_decode(wire, k, 0, n, back) < 0 && errno == EPROTO &&
           back[k] == 0xa5a5a5a5u;
}

static void test_bad(void)
{
    uint32_t same[] = {7, 7}, down[] = {9, 3};

    aps_indices_encode(same, 2, 0, 1000, wire);
    ok(refused(2, 1000), "packed: an index twice");
    aps_indices_encode(down, 2, 0, 1000, wire);
    ok(refused(2, 1000), "packed: descending indices");
    memset(wire, 0xff, sizeof wire);
    ok(refused(2, 1000), "packed: an index of 1023 among 1000 elements");
    ok(refused(1, 1000), "packed: bits that fill the last byte");
    ok(refused(900, 1000), "a bitmap with more bits than k");
    memset(wire, 0, sizeof wire);
    ok(refused(900, 1000), "... and with fewer");
    memset(wire, 0xff, 2);
    ok(refused(16, 11), "more indices than elements");
    ok(refused(11, 11), "a bitmap with bits beyond n");
}

/* Random bytes either do not decode, or decode to indices with only these bytes. */
static void test_noise(void)
{
    bool pass = true;
    size_t accepted = 0;

    for (int i = 0; i < 200000; i++) {
        size_t n = 1 + random_bits() % 40, k = random_bits() % (n + 1);
        size_t bytes = aps_indices_bytes(k, n);

        for (size_t b = 0; b < bytes; b++)
            wire[b] = (uint8_t)random_bits();
        memset(back, GUARD, sizeof back);
        if (aps_indices_decode(wire, k, 0, n, back) == 0) {
            accepted++;
            aps_indices_encode(back, k, 0, n, expected);
            pass &= memcmp(expected, wire, bytes) == 0;
            for (size_t j = 0; j < k; j++)
                pass &= back[j] < n;
        }
        pass &= back[k] == 0xa5a5a5a5u;
    }
    ok(pass && accepted > 1000,
       "random bytes are refused, or are what their indices are coded as");
}

static void test_below(void)
{
    bool pass = true;

    for (size_t n = 1; n <= 30; n++) {
        size_t k = n / 2;

        choose(k, n, 5);
        for (uint64_t bound = 0; bound <= n + 6; bound++) {
            size_t count = 0;

            while (count < k && chosen[count] < bound)
                count++;
            pass &= aps_indices_below(chosen, k, bound) == count;
        }
    }
    ok(pass, "the indices below a bound are counted");
}

int main(void)
{
    test_round_trips();
    test_bytes();
    test_wide();
    test_bad();
    test_noise();
    test_below();
    return done_testing();
}
