/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "policy/choice.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>

/* False if the error is NaN. */
static bool choice_meets(const struct aps_trial *trial, double most)
{
    return trial->measured && trial->error <= most &&
           trial->bytes < trial->fp32_bytes;
}

static bool choice_is_better(const struct aps_trial *trial,
                             const struct aps_trial *other)
{
    return trial->bytes != other->bytes ? trial->bytes < other->bytes
                                        : trial->error < other->error;
}

/* True if the layer may keep format `chosen`; it may always keep FP32. */
static bool choice_keeps(const struct aps_auto_format *formats, int chosen,
                         const struct aps_trial trials[])
{
    return chosen < 0 || choice_meets(&trials[chosen],
                                      sqrt(formats->most * formats->allowed));
}

int aps_auto_format_choose(const struct aps_auto_format *formats, int chosen,
                           const struct aps_trial trials[])
{
    const bool keeps = chosen >= 0 && choice_keeps(formats, chosen, trials);
    int best = -1;

    for (size_t i = 0; i < formats->formats.count; i++)
        if (choice_meets(&trials[i], formats->allowed) &&
            (best < 0 || choice_is_better(&trials[i], &trials[best])))
            best = (int)i;
    if (keeps && (best < 0 || trials[best].bytes >= trials[chosen].bytes))
        return chosen;
    return best;
}

#define RISES_MAX                                                              \
    5 /* the layer then waits for 2^(RISES_MAX - 1)
                       measurements */
#define CALM 64

/* FP32 counts as more bytes than any format that may be chosen. */
static unsigned long long choice_bytes(int format,
                                       const struct aps_trial trials[])
{
    return format < 0 || !trials[format].measured ? ULLONG_MAX
                                                  : trials[format].bytes;
}

int aps_auto_format_settle(const struct aps_auto_format *formats,
                           struct aps_auto_past *past, int chosen, int choice,
                           const struct aps_trial trials[])
{
    const int needed = past->rises < 2 ? 1 : 1 << (past->rises - 1);
    const bool rises =
        choice_bytes(choice, trials) > choice_bytes(chosen, trials);

    past->cheap = choice == chosen || rises ? 0 : past->cheap + 1;
    if (choice == chosen || (past->cheap > 0 && past->cheap < needed &&
                             choice_keeps(formats, chosen, trials))) {
        if (++past->calm >= CALM)
            *past = (struct aps_auto_past){0};
        return chosen;
    }
    past->rises += rises && past->rises < RISES_MAX;
    past->cheap = 0;
    past->calm = 0;
    return choice;
}
