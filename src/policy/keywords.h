/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of the policy language, in the order of the enums in policy.h, and
 * which of them go together. Parser, log and `apsmpi explain` all spell them
 * from here.
 */
#ifndef APS_POLICY_KEYWORDS_H
#define APS_POLICY_KEYWORDS_H

#include <stdbool.h>

#include "policy/policy.h"

/* What is said of a wrong word that people write: "did you mean 'aps'?". */
struct aps_hint {
    const char *word;
    const char *text;
};

/* Another name of a known word: it means the same. */
struct aps_alias {
    const char *word;
    const char *known;
};

/* Both lists end with NULL, the hints with a NULL word. `later` holds words that
 * the language reserves: they deserve another message than a typing error. */
struct aps_keywords {
    const char *const *known;
    const char *const *later; /* or NULL */
    const char *also; /* what may stand there too, for messages; or NULL */
    const struct aps_hint *hints;    /* or NULL */
    const struct aps_alias *aliases; /* other names of known words, up to a NULL
                                        word; or NULL */
    const char *const *old; /* of `known`: still read, but not suggested; NULL:
                               none */
};

/* The index of a word in such a list, or -1. A hyphen and an underscore are the
 * same letter. */
int aps_keywords_find(const char *const *list, const char *word);

/* The index in words->known of a word or of what it is an alias of, or -1. */
int aps_keywords_index(const struct aps_keywords *words, const char *word);

/* For keys at the top of a policy that belong elsewhere. */
extern const struct aps_hint aps_top_hints[];

extern const struct aps_keywords aps_keywords_scale;
extern const struct aps_keywords aps_keywords_overflow; /* of scales */
extern const struct aps_keywords aps_keywords_scope;
extern const struct aps_keywords aps_keywords_reduce;
extern const struct aps_keywords aps_keywords_compress;
extern const struct aps_keywords aps_keywords_group;
extern const struct aps_keywords aps_keywords_node;
extern const struct aps_keywords aps_keywords_accumulate;
/* By enum aps_rounding_word. */
extern const struct aps_keywords aps_keywords_rounding;
extern const struct aps_keywords aps_keywords_call;
extern const struct aps_keywords aps_keywords_progress;

/* The roundings of a rule, and which one of aps.h a word means. */
enum aps_rounding_word {
    APS_ROUNDING_NEAREST,
    APS_ROUNDING_STOCHASTIC,
    APS_ROUNDING_CORRELATED,
    APS_ROUNDING_WORDS
};
enum aps_rounding aps_rounding_of_word(enum aps_rounding_word word);
const char *aps_rounding_name(enum aps_rounding rounding); /* of a rule's */

/* Settings that have a meaning with some reductions only. */
enum aps_setting {
    APS_SETTING_GROUP,
    APS_SETTING_NODE,
    APS_SETTING_KAHAN, /* accumulate: kahan */
    APS_SETTING_CHUNK, /* accumulate: {chunk: K} */
    APS_SETTING_SUMS   /* partial sums in another format than the rule's */
};

bool aps_reduce_takes(enum aps_reduce_kind kind, enum aps_setting setting);

/* Do such calls add up what ranks contribute? Otherwise `accumulate` means
 * nothing with them. */
bool aps_call_sums(enum aps_call_kind kind);

/* "reduce, allgather" or, with " or " as `last`, "reduce or allgather": the
 * words i with bit i of `mask`. Writes at most `size` bytes, returns `list`. */
char *aps_keywords_list(const struct aps_keywords *words, unsigned mask,
                        const char *last, char *list, size_t size);

#endif
