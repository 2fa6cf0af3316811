/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of the policy language, in the order of the enums in policy.h, and
 * which of them go together. Parser, log and `apsmpi explain` all spell them
 * from here.
 */
#ifndef APS_POLICY_WORDS_H
#define APS_POLICY_WORDS_H

#include <stdbool.h>

#include "policy/policy.h"

/* Both lists end with NULL. `later` holds words that the language reserves:
 * they deserve another message than a typing error. */
struct aps_words {
    const char *const *known;
    const char *const *later; /* or NULL */
    const char *also; /* what may stand there too, for messages; or NULL */
};

extern const struct aps_words aps_words_scale;
extern const struct aps_words aps_words_reduce;
extern const struct aps_words aps_words_group;
extern const struct aps_words aps_words_node;
extern const struct aps_words aps_words_accumulate;
extern const struct aps_words aps_words_call;
extern const struct aps_words aps_words_progress;

/* Settings that have a meaning with some reductions only. */
enum aps_setting {
    APS_SETTING_GROUP,
    APS_SETTING_NODE,
    APS_SETTING_KAHAN /* accumulate: kahan */
};

bool aps_reduce_takes(enum aps_reduce_kind kind, enum aps_setting setting);

/* Do such calls add up what ranks contribute? Otherwise `accumulate` means
 * nothing with them. */
bool aps_call_sums(enum aps_call_kind kind);

/* "reduce, allgather" or, with " or " as `last`, "reduce or allgather": the
 * words i with bit i of `mask`. Writes at most `size` bytes, returns `list`. */
char *aps_words_list(const struct aps_words *words, unsigned mask,
                     const char *last, char *list, size_t size);

/* Is it the name of a format that a later version will know? */
bool aps_words_later_format(const char *name);

#endif
