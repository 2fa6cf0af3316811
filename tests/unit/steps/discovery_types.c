/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables that discovery writes of calls with elements of other types than float. */
#include "config.h"

#include "steps/discovery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap/tap.h"

static char text[4096];

/* Reads and removes one of the files. */
static const char *take(const char *prefix, const char *suffix)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s%s", prefix, suffix);
    file = fopen(path, "r");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
    unlink(path);
    return text;
}

/* Writes the files of 20 steps of two calls, whose order changes. */
static void discover(const char *prefix, enum aps_element a, enum aps_element b)
{
    struct aps_discovery discovery = {0};
    char said[768];

    for (int i = 0; i < 20; i++) {
        aps_discovery_record(&discovery, i % 3 ? 4000 : 2000, a);
        aps_discovery_record(&discovery, i % 3 ? 2000 : 4000, b);
    }
    (void)aps_discovery_explain(&discovery, prefix, said, sizeof said);
    aps_discovery_clear(&discovery);
}

int main(void)
{
    char folder[] = "/tmp/apsmpi-test.XXXXXX", prefix[64];

    if (!mkdtemp(folder))
        return 99;
    snprintf(prefix, sizeof prefix, "%s/found", folder);
    discover(prefix, APS_ELEMENT_BF16, APS_ELEMENT_BF16);
    ok(strstr(take(prefix, "-layers.csv"), "layer,name,count,type\n"
                                           "0,layer0,4000,bf16\n"
                                           "1,layer1,2000,bf16\n"),
       "a table of one type has its column");
    ok(!strstr(take(prefix, ".yaml"), "several types"),
       "... without a comment");
    discover(prefix, APS_ELEMENT_FLOAT, APS_ELEMENT_FP16);
    ok(strstr(take(prefix, "-layers.csv"), "layer,name,count\n"),
       "a table of several types has none");
    ok(strstr(take(prefix, ".yaml"),
              "# The calls have elements of several types."),
       "... but the policy a comment");
    discover(prefix, APS_ELEMENT_FLOAT, APS_ELEMENT_FLOAT);
    ok(strstr(take(prefix, "-layers.csv"), "layer,name,count\n"),
       "a table of floats has none");
    ok(!strstr(take(prefix, ".yaml"), "several types"), "... nor a comment");
    rmdir(folder);
    return done_testing();
}
