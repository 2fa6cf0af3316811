/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values with parameters, in their one form:
 *
 *     key: WORD
 *     key: {WORD: {parameter: value, ...}}
 *     key: {WORD: value}      the parameter that it requires, or its first
 *     key: {WORD: on}         a word that needs no parameter, as WORD alone
 *
 * What a key takes is a table: its words, their parameters, and the kind, bounds
 * and default of each parameter. A new word is a row, and its reader gets the
 * parameters in the order of the table.
 */
#ifndef APS_GRAMMAR_GRAMMAR_H
#define APS_GRAMMAR_GRAMMAR_H

#include <stdbool.h>

#include "number/format.h"
#include "yaml/value.h"
#include "policy/keywords.h"

enum aps_parameter_kind {
    APS_PARAMETER_WHOLE,         /* a whole number min..max */
    APS_PARAMETER_REAL,          /* a number min..max */
    APS_PARAMETER_SWITCH,        /* on or off */
    APS_PARAMETER_WORD,          /* one of `words` */
    APS_PARAMETER_WORD_OR_WHOLE, /* one of `words`, or a number min..max */
    APS_PARAMETER_FORMAT         /* the name of a number format */
};

struct aps_parameter {
    const char *name;
    enum aps_parameter_kind kind;
    bool required;
    bool above;      /* of REAL: `min` itself is excluded */
    double min, max; /* of numbers */
    const struct aps_keywords *words;
    /* Where it is not given: the number; 0 or 1 of SWITCH; the index of the
     * word, or -1, which the reader replaces. */
    double otherwise;
    /* Of REAL, names of others of the word: whose value it takes where it is not
     * given, and which it may not exceed. NULL: none. */
    const char *follows;
    const char *at_most;
    /* Of any kind: a parameter of the word that must not be given, or is off,
     * beside this one. NULL: none. */
    const char *excludes;
    /* Of any kind: a WORD of the word's that must have its word 0, or this one
     * has no effect. NULL: none. */
    const char *needs;
};

/* What a word takes. */
struct aps_choice {
    const struct aps_parameter *parameters; /* up to a NULL name; NULL: none */
    const char *example; /* of one that requires a parameter */
};

struct aps_grammar {
    const struct aps_keywords *words;
    const struct aps_choice *choices; /* in the order of words->known; NULL: no
                                         word takes parameters */
    /* Parameters of the key itself, as in accumulate: {format: F, kahan: on};
     * in a mapping they go before words of the same name. NULL: none. */
    const struct aps_parameter *own;
    bool formats; /* the name of any number format is a word, too */
};

/* A parameter as it was read. */
struct aps_argument {
    const struct aps_yaml_node *key; /* NULL: not given, the default holds */
    long whole;                      /* of WHOLE and WORD_OR_WHOLE */
    int word; /* of WORD and WORD_OR_WHOLE: the index; -1: `whole` holds */
    bool on;
    double real;
    struct aps_format format; /* if given */
};

/* A whole number, a real one, 0 or 1 of a switch, or the index of a word. */
double aps_argument_number(const struct aps_parameter *parameter,
                           const struct aps_argument *argument);

#define APS_ARGUMENTS_MAX 8
#define APS_WORD_OWN (-1)    /* a mapping of the key's own parameters */
#define APS_WORD_FORMAT (-2) /* a number format */
struct aps_value {
    int word; /* the index in words->known, or one of the above */
    const struct aps_yaml_node *at; /* the word, or the mapping */
    struct aps_format format;       /* of APS_WORD_FORMAT */
    struct aps_argument arguments[APS_ARGUMENTS_MAX];
};

/* Read the value of `key`. 0, or -1 with the errors reported. */
int aps_read_value(const struct aps_reader *reader,
                   const struct aps_yaml_node *key,
                   const struct aps_grammar *grammar, struct aps_value *value);

/* Read the value of `key` as that parameter. */
int aps_read_argument(const struct aps_reader *reader,
                      const struct aps_yaml_node *key,
                      const struct aps_parameter *parameter,
                      struct aps_argument *argument);

#endif
