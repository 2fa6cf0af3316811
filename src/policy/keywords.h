/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keywords of the policy language, in the order of the enums in policy.h, and
 * their combinations. The parser, the log and `apsmpi explain` take all
 * spellings from here.
 */
#ifndef APS_POLICY_KEYWORDS_H
#define APS_POLICY_KEYWORDS_H

#include <stdbool.h>

#include "policy/policy.h"

/* Text for a wrong word that people write: "did you mean 'aps'?". */
struct aps_hint {
    const char *word;
    const char *text;
};

/* Synonym of a known word. */
struct aps_alias {
    const char *word;
    const char *known;
};

/* Lists end with NULL; hints and aliases end with a NULL word. */
struct aps_keywords {
    const char *const *known;
    const char *also; /* other values that are allowed, for messages; or NULL */
    const struct aps_hint *hints;    /* or NULL */
    const struct aps_alias *aliases; /* synonyms; or NULL */
    const char *const *old;          /* those of `known` that are read, but not
                               suggested; or NULL */
};

/* Returns the index of the word in the list, or -1. A hyphen equals an
 * underscore. */
int aps_keywords_find(const char *const *list, const char *word);

/* Returns the index in words->known of the word, or of the word that it is an
 * alias of; or -1. */
int aps_keywords_index(const struct aps_keywords *words, const char *word);

/* Hints for keys at the top of a policy that belong elsewhere. */
extern const struct aps_hint aps_top_hints[];

extern const struct aps_keywords aps_keywords_scale;
extern const struct aps_keywords aps_keywords_overflow; /* key on_overflow of
                                                           scales */
extern const struct aps_keywords aps_keywords_scope;
extern const struct aps_keywords aps_keywords_reduce;
extern const struct aps_keywords aps_keywords_compress;
extern const struct aps_keywords aps_keywords_group;
extern const struct aps_keywords aps_keywords_node;
extern const struct aps_keywords aps_keywords_accumulate;
/* Indexed by enum aps_rounding_word. */
extern const struct aps_keywords aps_keywords_rounding;
extern const struct aps_keywords aps_keywords_call;
extern const struct aps_keywords aps_keywords_operations; /* sum, probe */
extern const struct aps_keywords aps_keywords_type;       /* enum aps_element */
extern const struct aps_keywords aps_keywords_progress;

/* Roundings of a rule, and the rounding of aps.h that each word means. */
enum aps_rounding_word {
    APS_ROUNDING_NEAREST,
    APS_ROUNDING_STOCHASTIC,
    APS_ROUNDING_CORRELATED,
    APS_ROUNDING_WORDS
};
enum aps_rounding aps_rounding_of_word(enum aps_rounding_word word);
/* `rounding` is one of a rule */
const char *aps_rounding_name(enum aps_rounding rounding);

/* Settings that only some reductions have. */
enum aps_setting {
    APS_SETTING_GROUP,
    APS_SETTING_NODE,
    APS_SETTING_KAHAN, /* accumulate: kahan */
    APS_SETTING_CHUNK, /* accumulate: {chunk: K} */
    APS_SETTING_SUMS   /* partial sums in another format than the rule's */
};

bool aps_reduce_takes(enum aps_reduce_kind kind, enum aps_setting setting);

/* True if such calls add contributions; `accumulate` has no effect on
 * others. */
bool aps_call_sums(enum aps_call_kind kind);

/* Lists the words i with bit i of `mask`: "reduce, allgather", or with " or
 * " as `last` "reduce or allgather". Writes at most `size` bytes. Returns
 * `list`. */
char *aps_keywords_list(const struct aps_keywords *words, unsigned mask,
                        const char *last, char *list, size_t size);

#endif
