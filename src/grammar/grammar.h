/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values with parameters, in one form:
 *
 *     key: WORD
 *     key: {WORD: {parameter: value, ...}}
 *     key: {WORD: value}      the required parameter, or the first
 *     key: {WORD: on}         a word that needs no parameter, as WORD alone
 *
 * A table describes each key: its words, their parameters, and the kind, bounds
 * and default of each parameter. A new word is a new row. Readers get the
 * parameters in the order of the table.
 */
#ifndef APS_GRAMMAR_GRAMMAR_H
#define APS_GRAMMAR_GRAMMAR_H

#include <stdbool.h>

#include "number/format.h"
#include "yaml/value.h"
#include "policy/keywords.h"

enum aps_parameter_kind {
    APS_PARAMETER_WHOLE,         /* whole number min..max */
    APS_PARAMETER_REAL,          /* number min..max */
    APS_PARAMETER_SWITCH,        /* on or off */
    APS_PARAMETER_WORD,          /* one of `words` */
    APS_PARAMETER_WORD_OR_WHOLE, /* one of `words`, or a number min..max */
    APS_PARAMETER_FORMAT         /* name of a number format */
};

struct aps_parameter {
    const char *name;
    enum aps_parameter_kind kind;
    bool required;
    bool above;      /* for REAL: `min` itself is excluded */
    double min, max; /* bounds of numbers */
    const struct aps_keywords *words;
    /* Default: the number; 0 or 1 for SWITCH; the index of the word, or -1,
     * which the reader replaces. */
    double otherwise;
    /* For REAL, names of other parameters of the word, or NULL: the one whose
     * value is the default, and the one that is an upper bound. */
    const char *follows;
    const char *at_most;
    /* For any kind: a parameter of the word that must be absent or off if this
     * one is given, or NULL. */
    const char *excludes;
    /* For any kind: a WORD parameter that must have its word 0, or this one has
     * no effect; or NULL. */
    const char *needs;
};

/* Parameters of a word. */
struct aps_choice {
    const struct aps_parameter *parameters; /* the last one has a NULL name;
                                               NULL: none */
    const char *example; /* for a word that requires a parameter */
};

struct aps_grammar {
    const struct aps_keywords *words;
    const struct aps_choice *choices; /* in the order of words->known; NULL: no
                                         word has parameters */
    /* Parameters of the key itself, as in accumulate: {format: F, kahan: on},
     * or NULL. In a mapping they precede words of the same name. */
    const struct aps_parameter *own;
    bool formats; /* names of number formats are words too */
    bool wide;    /* names of formats wider than FP32 are, too */
};

/* A parameter that was read. */
struct aps_argument {
    const struct aps_yaml_node *key; /* NULL: not given, and the default
                                        applies */
    long whole;                      /* for WHOLE and WORD_OR_WHOLE */
    int word; /* for WORD and WORD_OR_WHOLE: the index; -1: use `whole` */
    bool on;
    double real;
    struct aps_format format; /* if given */
};

/* Returns a whole or real number, 0 or 1 for a switch, or the index of a
 * word. */
double aps_argument_number(const struct aps_parameter *parameter,
                           const struct aps_argument *argument);

#define APS_ARGUMENTS_MAX 8
#define APS_WORD_OWN (-1)    /* a mapping of the key's own parameters */
#define APS_WORD_FORMAT (-2) /* a number format */
struct aps_value {
    int word; /* index in words->known, or one of the above */
    const struct aps_yaml_node *at; /* place of the word, or of the mapping */
    struct aps_format format;       /* for APS_WORD_FORMAT */
    struct aps_argument arguments[APS_ARGUMENTS_MAX];
};

/* Reads the value of `key`. Returns 0, or -1 after errors were reported. */
int aps_read_value(const struct aps_reader *reader,
                   const struct aps_yaml_node *key,
                   const struct aps_grammar *grammar, struct aps_value *value);

/* Reads the value of `key` as that parameter. */
int aps_read_argument(const struct aps_reader *reader,
                      const struct aps_yaml_node *key,
                      const struct aps_parameter *parameter,
                      struct aps_argument *argument);

#endif
