/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "text/glob.h"
#include "tests/tap/tap.h"

static void test_match(void)
{
    static const struct {
        const char *pattern;
        const char *name;
        bool match;
    } cases[] = {
        {"", "a", false},
        {"a", "", false},
        {"a", "ab", false},
        {"ab", "a", false},
        {"?", "", false},
        {"?", "ab", false},
        {"layer4.*", "layer3.0", false},
        {"*.bias", "fc.weight", false},
        {"a*b", "ac", false},
        {"[abc]", "d", false},
        {"[a-c]", "d", false},
        {"[!a-c]", "b", false},
        {"[^a-c]", "b", false},
        {"[z-a]", "m", false},
        {"[ab", "a", false},
        {"\\*", "a", false},
        {"Fc", "fc", false},
        {"a[b]", "a", false},
        {"", "", true},
        {"*", "", true},
        {"*", "fc.weight", true},
        {"**", "a", true},
        {"?", "a", true},
        {"layer4.*", "layer4.0.conv1.weight", true},
        {"*.bias", "fc.bias", true},
        {"*.bias", "a.bias.bias", true},
        {"a*b*c", "aXbYbZc", true},
        {"layer[1-3].?.bn*", "layer2.0.bn1.weight", true},
        {"[!a-c]x", "dx", true},
        {"[]]", "]", true},
        {"[!]]", "a", true},
        {"[a-]", "-", true},
        {"[\\]]", "]", true},
        {"[ab", "[ab", true},
        {"[", "[", true},
        {"\\*", "*", true},
        {"\\", "\\", true},
        {"*[0-9]", "conv12", true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ok(aps_glob_match(cases[i].pattern, cases[i].name) == cases[i].match,
           "'%s' %s '%s'", cases[i].pattern,
           cases[i].match ? "matches" : "does not match", cases[i].name);
}

static void test_many_stars(void)
{
    char pattern[201], name[2001];

    /* Takes for ever if every star is tried against every other. */
    for (size_t i = 0; i < sizeof pattern - 1; i += 2)
        memcpy(pattern + i, "*a", 2);
    pattern[sizeof pattern - 2] = 'b';
    pattern[sizeof pattern - 1] = '\0';
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ok(!aps_glob_match(pattern, name), "100 stars come to an end");
}

int main(void)
{
    ok(!aps_glob_is("layer4.0-bn1"), "a name is no pattern");
    ok(aps_glob_is("layer4.*") && aps_glob_is("a?") && aps_glob_is("[a]") &&
           aps_glob_is("\\a"),
       "patterns are patterns");
    test_match();
    test_many_stars();
    return done_testing();
}
