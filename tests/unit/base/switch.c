/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/switch.h"

#include <stddef.h>

#include "tests/tap/tap.h"

int main(void)
{
    static const char *const bad[] = {"",   " on", "on ", "onn", "o",
                                      "10", "01",  "-1",  "2",   "y",
                                      "n",  "t",   "f",   "none"};
    static const struct {
        const char *text;
        bool on;
    } good[] = {
        {"on", true},   {"off", false},   {"yes", true},  {"no", false},
        {"true", true}, {"false", false}, {"1", true},    {"0", false},
        {"ON", true},   {"Off", false},   {"tRuE", true}, {"NO", false},
    };
    bool on;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        on = i % 2 == 0;
        ok(aps_switch_parse(bad[i], &on) == -1 && on == (i % 2 == 0),
           "bad: '%s' is refused and changes nothing", bad[i]);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        on = !good[i].on;
        ok(aps_switch_parse(good[i].text, &on) == 0 && on == good[i].on,
           "good: %s", good[i].text);
    }
    return done_testing();
}
