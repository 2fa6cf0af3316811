/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdio.h>

#include "text/ranges.h"
#include "tests/tap/tap.h"

#define NOT_ONE "is not a number or a range (N, A-B or A-)"

static void test_parse_bad(void)
{
    static const struct {
        const char *text;
        const char *why;
    } cases[] = {
        {"", NOT_ONE},
        {"-", NOT_ONE},
        {"-5", NOT_ONE},
        {"a", NOT_ONE},
        {"1-b", NOT_ONE},
        {"1 - 2", NOT_ONE},
        {"1-2-3", NOT_ONE},
        {"1--2", NOT_ONE},
        {"0x10", NOT_ONE},
        {"1.5", NOT_ONE},
        {"7-3", "runs backwards"},
        {"99999999999999999999", "is too large"},
        {"0-99999999999999999999", "is too large"},
        {"9223372036854775807", "is too large"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct aps_range range = {-7, -7};
        const char *why = NULL;

        ok(aps_range_parse(cases[i].text, &range, &why) < 0 &&
               range.first == -7 && range.last == -7,
           "'%s' is refused and nothing written", cases[i].text);
        is(why, cases[i].why, "... because it %s", cases[i].why);
    }
}

static void test_parse_good(void)
{
    static const struct {
        const char *text;
        struct aps_range range;
        const char *formatted;
    } cases[] = {
        {"0", {0, 0}, "0"},
        {"12", {12, 12}, "12"},
        {"3-7", {3, 7}, "3-7"},
        {"5-5", {5, 5}, "5"},
        {"3-", {3, APS_RANGE_OPEN}, "3-"},
        {"0-", {0, APS_RANGE_OPEN}, "all"},
        {"9223372036854775806",
         {LONG_MAX - 1, LONG_MAX - 1},
         "9223372036854775806"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct aps_range range;
        const char *why;
        char buffer[64];

        ok(aps_range_parse(cases[i].text, &range, &why) == 0 &&
               range.first == cases[i].range.first &&
               range.last == cases[i].range.last,
           "'%s' is a range", cases[i].text);
        is(aps_range_format(&range, buffer, sizeof buffer), cases[i].formatted,
           "... printed as '%s'", cases[i].formatted);
    }
}

static void fill(struct aps_ranges *ranges, const struct aps_range *list,
                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (aps_ranges_add(ranges, list[i].first, list[i].last) < 0)
            bail_out("out of memory");
    }
    aps_ranges_sort(ranges);
}

static void test_empty(void)
{
    struct aps_ranges ranges = {.count = 0};
    char buffer[8];

    aps_ranges_sort(&ranges);
    ok(!aps_ranges_contain(&ranges, 0), "the empty set holds nothing");
    ok(aps_ranges_next(&ranges, 0) == -1, "... and never changes");
    is(aps_ranges_format(&ranges, buffer, sizeof buffer), "",
       "... and prints as nothing");
    aps_ranges_clear(&ranges);
}

static void test_merge(void)
{
    static const struct aps_range list[] = {{30, 40}, {0, 4}, {5, 6}, {35, 50},
                                            {8, 8},   {2, 3}, {8, 8}};
    struct aps_ranges ranges = {.count = 0};
    char buffer[64];

    fill(&ranges, list, sizeof list / sizeof list[0]);
    is(aps_ranges_format(&ranges, buffer, sizeof buffer), "0-6, 8, 30-50",
       "ranges are sorted; those that touch or overlap are merged");
    ok(aps_ranges_contain(&ranges, 0) && aps_ranges_contain(&ranges, 6) &&
           aps_ranges_contain(&ranges, 8) && aps_ranges_contain(&ranges, 50),
       "both ends belong to a range");
    ok(!aps_ranges_contain(&ranges, 7) && !aps_ranges_contain(&ranges, 9) &&
           !aps_ranges_contain(&ranges, 29) &&
           !aps_ranges_contain(&ranges, 51) && !aps_ranges_contain(&ranges, -1),
       "their neighbours do not");
    ok(aps_ranges_next(&ranges, 0) == 7 && aps_ranges_next(&ranges, 6) == 7 &&
           aps_ranges_next(&ranges, 7) == 8 &&
           aps_ranges_next(&ranges, 8) == 9 &&
           aps_ranges_next(&ranges, 9) == 30 &&
           aps_ranges_next(&ranges, 50) == 51 &&
           aps_ranges_next(&ranges, 51) == -1,
       "next finds every start and end");
    is(aps_ranges_format(&ranges, buffer, 11), "0-6, ...",
       "what does not fit is cut between ranges");
    is(aps_ranges_format(&ranges, buffer, 14), "0-6, 8, 30-50",
       "what just fits is not");
    aps_ranges_clear(&ranges);
    ok(ranges.count == 0 && !ranges.list, "clear leaves the empty set");
}

static void test_open_end(void)
{
    static const struct aps_range list[] = {
        {10, APS_RANGE_OPEN}, {20, 30}, {5, 9}};
    struct aps_ranges ranges = {.count = 0};
    char buffer[64];

    fill(&ranges, list, sizeof list / sizeof list[0]);
    is(aps_ranges_format(&ranges, buffer, sizeof buffer), "5-",
       "an open end swallows what follows");
    ok(aps_ranges_contain(&ranges, LONG_MAX - 1), "... and has no end");
    ok(aps_ranges_next(&ranges, 5) == -1, "... and never changes");
    aps_ranges_clear(&ranges);
}

int main(void)
{
    test_parse_bad();
    test_parse_good();
    test_empty();
    test_merge();
    test_open_end();
    return done_testing();
}
