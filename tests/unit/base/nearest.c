/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <string.h>

#include "base/nearest.h"
#include "tests/tap/tap.h"

static const char *const names[] = {"layers",    "epochs", "steps", "min_count",
                                    "max_count", "format", "scale", "aps",
                                    "l3",        "reduce", "group", NULL};

static void test_words(void)
{
    static const struct {
        const char *word;
        const char *best;
    } cases[] = {
        /* nothing near */
        {"", NULL},
        {"x", NULL},
        {"compress", NULL},
        {"zzz", NULL},
        {"sea", NULL},
        {"ma", NULL},
        /* a letter missing, too many, wrong, swapped */
        {"formt", "format"},
        {"formatt", "format"},
        {"fornat", "format"},
        {"fromat", "format"},
        {"layer", "layers"},
        {"sclae", "scale"},
        {"ap", "aps"},
        {"l2", "l3"},
        {"mincount", "min_count"},
        {"min-count", "min_count"},
        {"redcue", "reduce"},
        /* case does not count */
        {"FORMAT", "format"},
        {"Min_Count", "min_count"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        is(aps_nearest_name(cases[i].word, names), cases[i].best,
           "'%s' is near to %s", cases[i].word,
           cases[i].best ? cases[i].best : "nothing");
}

static void test_ties(void)
{
    static const char *const near[] = {"bats", "cats", "hats", NULL};
    static const char *const exact[] = {"bats", "CATS", NULL};

    is(aps_nearest_name("rats", near), "bats",
       "the first of equally near names wins");
    is(aps_nearest_name("cats", exact), "CATS", "the nearest one wins");
}

static void test_long_words(void)
{
    char word[APS_NEAREST_MAX + 2], name[APS_NEAREST_MAX + 2];
    const char *const list[] = {name, NULL};

    memset(word, 'a', sizeof word);
    memset(name, 'a', sizeof name);
    name[0] = 'b';
    word[APS_NEAREST_MAX + 1] = name[APS_NEAREST_MAX + 1] = '\0';
    ok(!aps_nearest_name(word, list), "words beyond the limit get no hint");
    word[APS_NEAREST_MAX] = name[APS_NEAREST_MAX] = '\0';
    is(aps_nearest_name(word, list), name, "words of the longest length do");
}

static void test_hint(void)
{
    char hint[APS_HINT_MAX];

    is(aps_nearest_hint(NULL, hint), "", "no name, no hint");
    is(aps_nearest_hint("scale", hint), "; did you mean 'scale'?",
       "a name makes a hint");
}

int main(void)
{
    test_words();
    test_ties();
    test_long_words();
    test_hint();
    return done_testing();
}
