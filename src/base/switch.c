/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/switch.h"

#include <stddef.h>
#include <strings.h>

int aps_switch_parse(const char *text, bool *on)
{
    static const struct {
        const char *word;
        bool on;
    } words[] = {
        {"on", true},   {"off", false},   {"yes", true}, {"no", false},
        {"true", true}, {"false", false}, {"1", true},   {"0", false},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i].word) == 0) {
            *on = words[i].on;
            return 0;
        }
    }
    return -1;
}
