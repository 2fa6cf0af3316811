/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "policy/choice.h"

#include <math.h>
#include <stddef.h>

/* NaN meets no bound. */
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

int aps_auto_format_choose(const struct aps_auto_format *formats, int chosen,
                           const struct aps_trial trials[])
{
    const bool keeps =
        chosen >= 0 &&
        choice_meets(&trials[chosen], sqrt(formats->most * formats->allowed));
    int best = -1;

    for (size_t i = 0; i < formats->formats.count; i++)
        if (choice_meets(&trials[i], formats->allowed) &&
            (best < 0 || choice_is_better(&trials[i], &trials[best])))
            best = (int)i;
    if (keeps && (best < 0 || trials[best].bytes >= trials[chosen].bytes))
        return chosen;
    return best;
}
