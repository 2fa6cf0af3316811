/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank hands over is the same, whether by ordinary or by streaming stores, and
 * nothing beside it is written; and when it changes from one to the other.
 */
#include "config.h"

#include "reduce/handoff.h"

#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "tests/tap/tap.h"

#define ROOM ((size_t)5000)
#define GUARD ((size_t)64)
#define MEASURED ((size_t)64 * APS_CACHE_LINE)

static _Alignas(64) unsigned char room[2 * GUARD + ROOM + GUARD];
static unsigned char from[ROOM];

static struct aps_handoff handoff_of(const char *wanted)
{
    struct aps_handoff handoff;

    setenv("APSMPI_HANDOFF", wanted, 1);
    aps_handoff_init(&handoff, ROOM);
    return handoff;
}

/* Is from[bytes] there, and 0x5a before and behind it? */
static bool holds(const unsigned char *to, size_t bytes)
{
    bool right = memcmp(to, from, bytes) == 0;

    for (size_t i = 1; i <= GUARD; i++)
        right &= to[-(ptrdiff_t)i] == 0x5a && to[bytes + i - 1] == 0x5a;
    return right;
}

static void test_bytes(const char *wanted)
{
    static const size_t sizes[] = {0, 1, 4, 63, 64, 65, 4099, ROOM};
    struct aps_handoff handoff = handoff_of(wanted);
    bool copied = true, passed = true;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t offset = 0; offset < GUARD; offset += 3) {
            unsigned char *const to = room + GUARD + offset;

            memset(room, 0x5a, sizeof room);
            aps_handoff_copy(&handoff, to, from, sizes[s]);
            copied &= holds(to, sizes[s]);
            memset(room, 0x5a, sizeof room);
            memcpy(aps_handoff_make(&handoff, to), from, sizes[s]);
            aps_handoff_pass(&handoff, to, sizes[s]);
            passed &= holds(to, sizes[s]);
        }
    ok(copied, "%s: bytes are copied anywhere, and no others", wanted);
    ok(passed, "%s: a block is passed anywhere, and nothing else", wanted);
    aps_handoff_clear(&handoff);
}

static void test_choice(void)
{
    struct aps_handoff handoff = handoff_of("store");

    ok(!handoff.streams && !handoff.measures && !handoff.scratch,
       "store: no streaming stores, no measurement, no memory");
    handoff = handoff_of("auto");
    ok(!handoff.streams && !handoff.scratch,
       "auto: ordinary stores to begin with");
#if defined(__x86_64__)
    ok(handoff.measures, "auto: there are measurements");
    handoff = handoff_of("stream");
    ok(handoff.streams && !handoff.measures,
       "stream: streaming stores, no measurement");
    aps_handoff_clear(&handoff);
#else
    skip(2, "no streaming stores on this processor");
#endif
}

/* Measurements that took so long; does it stream then? */
static bool after(struct aps_handoff *handoff, const char *measured)
{
    for (; *measured; measured++)
        aps_handoff_judge(handoff, *measured == 's' ? 600 : 120, 270);
    return handoff->streams;
}

static void test_judgement(void)
{
    struct aps_handoff handoff = handoff_of("auto");

    ok(!after(&handoff, "ffsfsf"), "single slow measurements change nothing");
    ok(handoff.chunks > 0, "what is as expected is not measured again soon");
    ok(!after(&handoff, "s") && handoff.chunks == 0,
       "what is not as expected is measured again at once");
    ok(after(&handoff, "s"), "two slow ones in a row: streaming stores");
    ok(after(&handoff, "sfsfs"), "single quick measurements change nothing");
    ok(!after(&handoff, "ff"), "two quick ones in a row: ordinary stores");
    ok(after(&handoff, "ss"), "... and back");
    aps_handoff_clear(&handoff);
    ok(!handoff.streams && !handoff.scratch, "cleared");
}

/* What a measurement overwrites. */
static bool begins(struct aps_handoff *handoff, size_t bytes)
{
    bool written = false;

    memset(room, 0x5a, sizeof room);
    aps_handoff_begin(handoff, room + GUARD, bytes);
    for (size_t i = 0; i < sizeof room; i++) {
        const bool changed = room[i] != 0x5a;

        if (changed && (i < GUARD || i >= GUARD + bytes))
            bail_out("byte %zu of %zu is overwritten", i, bytes);
        written |= changed;
    }
    return written;
}

static void test_begin(void)
{
    struct aps_handoff handoff = handoff_of("store");
    int measured = 0;

    ok(!begins(&handoff, MEASURED), "store: nothing is measured");
    handoff = handoff_of("auto");
    if (!handoff.measures) {
        skip(3, "no streaming stores on this processor");
        return;
    }
    ok(!begins(&handoff, MEASURED - 1), "short blocks are not measured");
    ok(begins(&handoff, MEASURED), "the first chunk is, within its block");
    for (int i = 0; i < 320; i++)
        measured += begins(&handoff, MEASURED);
    ok(measured >= 20 && measured < 160, "later ones now and then: %d of 320",
       measured);
    aps_handoff_clear(&handoff);
}

static void test_parse(void)
{
    static const struct {
        const char *text;
        int rc;
        enum aps_cache_handoff handoff;
    } cases[] = {
        {"auto", 0, APS_CACHE_HANDOFF_AUTO},
        {"store", 0, APS_CACHE_HANDOFF_STORE},
        {"Stream", 0, APS_CACHE_HANDOFF_STREAM},
        {"", -1, APS_CACHE_HANDOFF_AUTO},
        {"on", -1, APS_CACHE_HANDOFF_AUTO},
        {"streams", -1, APS_CACHE_HANDOFF_AUTO},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum aps_cache_handoff handoff = APS_CACHE_HANDOFF_AUTO;

        ok(aps_cache_handoff_parse(cases[i].text, &handoff) == cases[i].rc &&
               handoff == cases[i].handoff,
           "APSMPI_HANDOFF='%s' is %s", cases[i].text,
           cases[i].rc == 0 ? "read" : "refused");
    }
}

int main(void)
{
    for (size_t i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i * 7 + i / 251);
    test_bytes("store");
    test_bytes("stream");
    test_choice();
    test_judgement();
    test_begin();
    test_parse();
    return done_testing();
}
