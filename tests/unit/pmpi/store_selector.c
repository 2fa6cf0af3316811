/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank writes the same bytes by ordinary and by streaming stores, and nothing
 * else; and the times at which it changes between the two.
 */
#include "config.h"

#include "group/store_selector.h"

#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "tests/tap/tap.h"

#define ROOM ((size_t)5000)
#define GUARD ((size_t)64)
#define READERS 3
#define SELF 1
#define MEASURED ((size_t)64 * APS_CACHE_LINE)

static _Alignas(64) unsigned char room[2 * GUARD + ROOM + GUARD];
static unsigned char from[ROOM];

static struct aps_store_selector handoff_of(const char *wanted)
{
    struct aps_store_selector handoff;

    setenv("APSMPI_HANDOFF", wanted, 1);
    aps_store_selector_init(&handoff, READERS, SELF, ROOM);
    return handoff;
}

/* True if from[bytes] is there, and 0x5a before and after it. */
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
    struct aps_store_selector handoff = handoff_of(wanted);
    bool copied = true, passed = true;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t offset = 0; offset < GUARD; offset += 3) {
            unsigned char *const to = room + GUARD + offset;

            memset(room, 0x5a, sizeof room);
            aps_store_selector_copy(&handoff, 2, to, from, sizes[s]);
            copied &= holds(to, sizes[s]);
            memset(room, 0x5a, sizeof room);
            memcpy(
                aps_store_selector_make(&handoff, APS_STORE_SELECTOR_ALL, to),
                from, sizes[s]);
            aps_store_selector_pass(&handoff, APS_STORE_SELECTOR_ALL, to,
                                    sizes[s]);
            passed &= holds(to, sizes[s]);
        }
    ok(copied, "%s: bytes are copied anywhere, and no others", wanted);
    ok(passed, "%s: a block is passed anywhere, and nothing else", wanted);
    aps_store_selector_clear(&handoff);
}

static void test_choice(void)
{
    struct aps_store_selector handoff = handoff_of("store");

    ok(!handoff.streams && !handoff.readers && !handoff.scratch,
       "store: no streaming stores, no measurement, no memory");
    handoff = handoff_of("auto");
    ok(!handoff.streams, "auto: ordinary stores to begin with");
    aps_store_selector_clear(&handoff);
#if defined(__x86_64__)
    handoff = handoff_of("stream");
    ok(aps_store_selector_streams(&handoff, 0) &&
           aps_store_selector_streams(&handoff, 2) &&
           aps_store_selector_next(&handoff) < 0,
       "stream: streaming stores to all, no measurement");
    aps_store_selector_clear(&handoff);
#else
    skip(1, "no streaming stores on this processor");
#endif
    setenv("APSMPI_HANDOFF", "auto", 1);
    aps_store_selector_init(&handoff, 1, 0, ROOM);
    ok(aps_store_selector_next(&handoff) < 0, "nobody else: no measurement");
    aps_store_selector_clear(&handoff);
}

/* Updates the selector with measurements of one reader. True if it streams then. */
static bool after(struct aps_store_selector *handoff, int reader,
                  const char *measured)
{
    for (; *measured; measured++)
        aps_store_selector_update(handoff, reader, *measured == 's' ? 600 : 120,
                                  270);
    return aps_store_selector_streams(handoff, reader);
}

static void test_judgement(void)
{
    struct aps_store_selector handoff = handoff_of("auto");
    const unsigned char *const scratch = handoff.scratch;

    if (!handoff.readers) {
        skip(10, "no streaming stores on this processor");
        return;
    }
    ok(!after(&handoff, 0, "ffsfsf"),
       "single slow measurements change nothing");
    ok(!after(&handoff, 2, "s") && aps_store_selector_next(&handoff) == 2,
       "what is not as expected is measured again at once");
    ok(after(&handoff, 2, "s"), "two slow ones in a row: streaming stores");
    ok(!aps_store_selector_streams(&handoff, 0),
       "... to this reader, to no other");
    ok(aps_store_selector_streams(&handoff, APS_STORE_SELECTOR_ALL),
       "what all read streams if one of them is so slow");
    ok(after(&handoff, 2, "sfsfs"), "single quick measurements change nothing");
    ok(!after(&handoff, 2, "ff") &&
           !aps_store_selector_streams(&handoff, APS_STORE_SELECTOR_ALL),
       "two quick ones in a row: ordinary stores");
    ok(after(&handoff, 2, "ss"), "... and back");
    ok(scratch && handoff.scratch == scratch,
       "a judgement allocates nothing: steps must not");
    aps_store_selector_clear(&handoff);
    ok(!handoff.streams && !handoff.scratch && !handoff.readers, "cleared");
}

/* True if both other choices are measured, each about every second time. */
static bool takes_turns(struct aps_store_selector *handoff, int chunks,
                        int *measured)
{
    int of[READERS] = {0};

    for (int i = 0; i < chunks; i++) {
        const int reader = aps_store_selector_next(handoff);

        if (reader < 0)
            continue;
        of[reader]++;
        aps_store_selector_update(handoff, reader, 120, 270);
    }
    *measured = of[0] + of[2];
    return of[SELF] == 0 && abs(of[0] - of[2]) <= 1;
}

static void test_turns(void)
{
    struct aps_store_selector handoff = handoff_of("auto");
    int first, later;

    if (!handoff.readers) {
        skip(3, "no streaming stores on this processor");
        return;
    }
    ok(takes_turns(&handoff, 4, &first) && first == 4,
       "at first each chunk is measured, of the other ranks in turn");
    ok(takes_turns(&handoff, 1300, &later), "... and so they are later");
    ok(later >= 80 && later <= 120, "now and then: %d of 1300 chunks", later);
    aps_store_selector_clear(&handoff);
}

/* True if anything is overwritten; nothing after the block may be. */
static bool overwrites(struct aps_store_selector *handoff, size_t bytes)
{
    bool written = false;

    memset(room, 0x5a, sizeof room);
    aps_store_selector_measure(handoff, 0, room + GUARD, bytes);
    for (size_t i = 0; i < sizeof room; i++) {
        const bool changed = room[i] != 0x5a;

        if (changed && (i < GUARD || i >= GUARD + bytes))
            bail_out("byte %zu of %zu is overwritten", i, bytes);
        written |= changed;
    }
    return written;
}

static void test_measurement(void)
{
    struct aps_store_selector handoff = handoff_of("auto");

    if (!handoff.readers) {
        skip(3, "no streaming stores on this processor");
        return;
    }
    ok(!overwrites(&handoff, MEASURED - 1), "short blocks are not measured");
    ok(aps_store_selector_next(&handoff) == 2,
       "... and the next reader's turn comes");
    ok(overwrites(&handoff, MEASURED), "others are, within the block");
    aps_store_selector_clear(&handoff);
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
    test_turns();
    test_measurement();
    test_parse();
    return done_testing();
}
