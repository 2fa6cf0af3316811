/* SPDX-License-Identifier: BSD-3-Clause */
/* True if two ranks run the same library. */
#include "config.h"

#include "world/build.h"

#include <stdio.h>
#include <string.h>

#include "tap/tap.h"

static struct aps_build ours;

static void differs(const char *name, const struct aps_build *mine,
                    const char *text)
{
    char cause[240] = "";

    ok(aps_build_compare(mine, &ours, cause, sizeof cause) == -1,
       "%s: another library", name);
    is(cause, text, "... with what differs");
}

int main(void)
{
    struct aps_build mine;
    char cause[240] = "untouched", text[240];

    memset(&ours, 0x55, sizeof ours);
    memset(&mine, 0xaa, sizeof mine);
    aps_build_fill(&ours);
    aps_build_fill(&mine);
    ok(aps_build_compare(&mine, &ours, cause, sizeof cause) == 0,
       "two ranks with one library agree");
    is(cause, "untouched", "... and nothing is to be said");
    ok(ours.identity != 0, "the sources have an identity");

    snprintf(mine.version, sizeof mine.version, "9.8.7");
    mine.identity++;
    differs("a version", &mine,
            "runs apsmpi 9.8.7, rank 0 runs apsmpi " PACKAGE_VERSION
            "; start the same libapsmpi.so on all ranks");
    aps_build_fill(&mine);
    mine.identity = 0xabc;
    ours.identity = 0xdef;
    differs("sources", &mine,
            "runs an apsmpi " PACKAGE_VERSION
            " of other sources (0000000000000abc) than rank 0 "
            "(0000000000000def); start the same libapsmpi.so on all ranks");
    mine.identity = ours.identity;
    mine.sizes[APS_BUILD_LONG] = 12;
    snprintf(
        text, sizeof text,
        "has longs of 12 bytes, rank 0 has longs of %u bytes; apsmpi needs "
        "machines of one kind",
        (unsigned)sizeof(long));
    differs("a compiler's sizes", &mine, text);
    mine.sizes[APS_BUILD_LONG] = ours.sizes[APS_BUILD_LONG];
    mine.byte_order = 0x04030201;
    differs("a byte order", &mine,
            "has another byte order than rank 0; apsmpi needs machines of one "
            "byte order");
    mine.byte_order = ours.byte_order;
    mine.rest[51] = 1;
    differs("something that this version does not know", &mine,
            "runs another apsmpi than rank 0; start the same libapsmpi.so on "
            "all ranks");
    return done_testing();
}
