/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "grammar/grammar.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/switch.h"
#include "grammar/formats.h"
#include "yaml/number.h"

static void set_default(const struct aps_parameter *parameter,
                        struct aps_argument *argument)
{
    *argument = (struct aps_argument){.word = -1};
    switch (parameter->kind) {
    case APS_PARAMETER_WHOLE:
        argument->whole = (long)parameter->otherwise;
        break;
    case APS_PARAMETER_REAL:
        argument->real = parameter->otherwise;
        break;
    case APS_PARAMETER_SWITCH:
        argument->on = parameter->otherwise != 0;
        break;
    case APS_PARAMETER_WORD:
    case APS_PARAMETER_WORD_OR_WHOLE:
        argument->word = (int)parameter->otherwise;
        break;
    case APS_PARAMETER_FORMAT:
        break;
    }
}

static void set_defaults(const struct aps_parameter *parameters,
                         struct aps_value *value)
{
    for (int i = 0; parameters && parameters[i].name; i++)
        set_default(&parameters[i], &value->arguments[i]);
}

static bool starts_with_digit(const struct aps_yaml_node *node)
{
    return node->text && node->text[0] >= '0' && node->text[0] <= '9';
}

int aps_read_argument(const struct aps_reader *reader,
                      const struct aps_yaml_node *key,
                      const struct aps_parameter *parameter,
                      struct aps_argument *argument)
{
    const struct aps_real_bounds bounds = {parameter->min, parameter->max,
                                           parameter->above};

    argument->key = key;
    switch (parameter->kind) {
    case APS_PARAMETER_REAL:
        return aps_read_real(reader, key, &bounds, &argument->real);
    case APS_PARAMETER_SWITCH:
        return aps_read_switch(reader, key, &argument->on);
    case APS_PARAMETER_FORMAT:
        return aps_read_text(reader, key) &&
                       aps_read_format_word(reader, key->value, false,
                                            &argument->format) == 0
                   ? 0
                   : -1;
    case APS_PARAMETER_WORD_OR_WHOLE:
        if (!starts_with_digit(key->value))
            return aps_read_word(reader, key, parameter->words,
                                 &argument->word);
        argument->word = -1;
        break;
    case APS_PARAMETER_WORD:
        return aps_read_word(reader, key, parameter->words, &argument->word);
    case APS_PARAMETER_WHOLE:
        break;
    }
    return aps_read_number(reader, key, (long)parameter->min,
                           (long)parameter->max, &argument->whole);
}

double aps_argument_number(const struct aps_parameter *parameter,
                           const struct aps_argument *argument)
{
    switch (parameter->kind) {
    case APS_PARAMETER_REAL:
        return argument->real;
    case APS_PARAMETER_SWITCH:
        return argument->on;
    case APS_PARAMETER_WORD:
        return argument->word;
    default:
        return (double)argument->whole;
    }
}

/* True for on, yes and true; 1 is a number too. */
static bool is_on(const struct aps_yaml_node *node)
{
    bool on;

    return !starts_with_digit(node) && aps_switch_parse(node->text, &on) == 0 &&
           on;
}

/* True if the parameter is given and not off. */
static bool is_there(const struct aps_parameter *parameter,
                     const struct aps_argument *argument)
{
    return argument->key &&
           (parameter->kind != APS_PARAMETER_SWITCH || argument->on);
}

/* Reports parameters that exclude each other. */
static int check_excluded(const struct aps_reader *reader,
                          const struct aps_parameter *parameters,
                          const struct aps_value *value)
{
    const struct aps_argument *const arguments = value->arguments;
    int result = 0;

    for (int i = 0; parameters && parameters[i].name; i++) {
        if (!parameters[i].excludes || !is_there(&parameters[i], &arguments[i]))
            continue;
        for (int j = 0; parameters[j].name; j++) {
            if (strcmp(parameters[i].excludes, parameters[j].name) != 0 ||
                !is_there(&parameters[j], &arguments[j]))
                continue;
            aps_reader_error(
                reader, arguments[i].key,
                "'%s' cannot be combined with '%s'; remove one of them",
                parameters[i].name, parameters[j].name);
            result = -1;
        }
    }
    return result;
}

/* Returns the index of the parameter with that name, or -1. */
static int find_parameter(const struct aps_parameter *parameters,
                          const char *name)
{
    for (int i = 0; parameters[i].name; i++)
        if (strcmp(parameters[i].name, name) == 0)
            return i;
    return -1;
}

/* Reports parameters that have no effect because of another one's word. */
static int check_needed(const struct aps_reader *reader,
                        const struct aps_parameter *parameters,
                        const struct aps_value *value)
{
    int result = 0;

    for (int i = 0; parameters && parameters[i].name; i++) {
        const struct aps_argument *argument = &value->arguments[i];
        int other;

        if (!parameters[i].needs || !argument->key)
            continue;
        other = find_parameter(parameters, parameters[i].needs);
        if (value->arguments[other].word <= 0)
            continue;
        aps_reader_error(
            reader, argument->key,
            "'%s' has no effect with %s: %s; leave it out", parameters[i].name,
            parameters[other].name,
            parameters[other].words->known[value->arguments[other].word]);
        result = -1;
    }
    return result;
}

/* Reads the mapping of parameters; `name` is the word or the key. */
static int read_parameters(const struct aps_reader *reader,
                           const struct aps_yaml_node *mapping,
                           const char *name,
                           const struct aps_parameter *parameters,
                           struct aps_value *value)
{
    const char *names[APS_ARGUMENTS_MAX + 1] = {NULL};
    const struct aps_yaml_node *keys[APS_ARGUMENTS_MAX];
    const struct aps_keywords words = {.known = names};
    int result = 0;

    for (int i = 0; parameters && parameters[i].name; i++)
        names[i] = parameters[i].name;
    if (aps_read_parameter_keys(reader, mapping, name, &words, keys) < 0)
        result = -1;
    for (int i = 0; names[i]; i++) {
        /* {format: on} means the default format */
        if (!keys[i] ||
            (parameters[i].kind == APS_PARAMETER_FORMAT &&
             keys[i]->value->kind == APS_YAML_SCALAR && is_on(keys[i]->value)))
            continue;
        if (aps_read_argument(reader, keys[i], &parameters[i],
                              &value->arguments[i]) < 0)
            result = -1;
    }
    if (check_excluded(reader, parameters, value) < 0 ||
        check_needed(reader, parameters, value) < 0)
        result = -1;
    return result;
}

/* Reports required parameters that are missing. */
static int check_required(const struct aps_reader *reader,
                          const struct aps_yaml_node *word,
                          const struct aps_choice *choice,
                          const struct aps_value *value)
{
    for (int i = 0; choice->parameters && choice->parameters[i].name; i++) {
        if (!choice->parameters[i].required || value->arguments[i].key)
            continue;
        aps_reader_error(reader, word, "'%s' needs its %s: %s", word->text,
                         choice->parameters[i].name, choice->example);
        return -1;
    }
    return 0;
}

/* Returns the index of the parameter whose value parameter i has: i itself, or
 * the one that it follows if it is not given. */
static int source_of(const struct aps_parameter *parameters,
                     const struct aps_value *value, int i)
{
    while (!value->arguments[i].key && parameters[i].follows)
        i = find_parameter(parameters, parameters[i].follows);
    return i;
}

static void follow(const struct aps_parameter *parameters,
                   struct aps_value *value)
{
    for (int i = 0; parameters && parameters[i].name; i++)
        value->arguments[i].real =
            value->arguments[source_of(parameters, value, i)].real;
}

/* Reports parameters that exceed their upper bound, another parameter. */
static int check_order(const struct aps_reader *reader,
                       const struct aps_parameter *parameters,
                       const struct aps_value *value)
{
    for (int i = 0; parameters && parameters[i].name; i++) {
        const struct aps_argument *low = &value->arguments[i], *high;
        int above;

        if (!parameters[i].at_most)
            continue;
        above = source_of(parameters, value,
                          find_parameter(parameters, parameters[i].at_most));
        high = &value->arguments[above];
        if (low->real <= high->real)
            continue;
        aps_reader_error(reader, (low->key ? low->key : high->key)->value,
                         "'%s' is %g%s, above '%s', which is %g%s",
                         parameters[i].name, low->real,
                         low->key ? "" : " by default", parameters[above].name,
                         high->real, high->key ? "" : " by default");
        return -1;
    }
    return 0;
}

/* Checks all parameters together, after they have been read. */
static int settle(const struct aps_reader *reader,
                  const struct aps_yaml_node *word,
                  const struct aps_choice *choice, struct aps_value *value)
{
    follow(choice->parameters, value);
    if (check_required(reader, word, choice, value) < 0)
        return -1;
    return check_order(reader, choice->parameters, value);
}

/* Returns the parameter whose value may follow the word alone: the required
 * one, or else the first. */
static int lone_parameter(const struct aps_choice *choice)
{
    for (int i = 0; choice->parameters && choice->parameters[i].name; i++)
        if (choice->parameters[i].required)
            return i;
    return 0;
}

/* Reads a single value after a word: one parameter, or `on`. */
static int read_single(const struct aps_reader *reader,
                       const struct aps_yaml_node *word,
                       const struct aps_choice *choice, struct aps_value *value)
{
    const int lone = lone_parameter(choice);
    const struct aps_parameter *parameter =
        choice->parameters ? &choice->parameters[lone] : NULL;
    bool on;

    if (word->value->text[0] == '\0') /* {aps} is a mapping in YAML */
        return 0;
    if (parameter && (parameter->required || !is_on(word->value)))
        return aps_read_argument(reader, word, parameter,
                                 &value->arguments[lone]);
    if (aps_read_switch(reader, word, &on) < 0)
        return -1;
    if (on)
        return 0;
    aps_reader_error(reader, word->value,
                     "'%s' cannot be switched off here: name another word",
                     word->text);
    return -1;
}

/* Returns an example of a word with a number, or NULL. */
static const char *example_of(const struct aps_grammar *grammar)
{
    for (int i = 0; grammar->choices && grammar->words->known[i]; i++) {
        if (grammar->choices[i].example)
            return grammar->choices[i].example;
    }
    return NULL;
}

/* Reports a word with its parameters as logs and explain write them, "powersgd
 * rank 4", with the form of a policy. True if it did. */
static bool refuse_described(const struct aps_reader *reader,
                             const struct aps_yaml_node *key,
                             const struct aps_yaml_node *at,
                             const struct aps_grammar *grammar)
{
    char word[32] = "", name[32], number[32], more;
    int index;

    if (!grammar->choices ||
        sscanf(at->text, "%31s %31s %31s %c", word, name, number, &more) < 2)
        return false;
    index = aps_keywords_index(grammar->words, word);
    if (index < 0 || !grammar->choices[index].parameters)
        return false;
    if (find_parameter(grammar->choices[index].parameters, name) < 0 ||
        sscanf(at->text, "%*s %*s %31s %c", number, &more) != 1)
        snprintf(name, sizeof name, "...");
    aps_reader_error(
        reader, at,
        "unknown %s '%.80s'; write parameters in braces: %s: {%s: {%s%s%s}}",
        key->text, at->text, key->text, word, name, name[0] == '.' ? "" : ": ",
        name[0] == '.' ? "" : number);
    return true;
}

/* Reads the word at `at`, in the value of `key`. */
static int read_choice(const struct aps_reader *reader,
                       const struct aps_yaml_node *key,
                       const struct aps_yaml_node *at,
                       const struct aps_grammar *grammar,
                       struct aps_value *value)
{
    value->at = at;
    value->word = aps_keywords_index(grammar->words, at->text);
    if (value->word >= 0)
        return 0;
    value->word = APS_WORD_FORMAT;
    if (grammar->formats)
        return aps_read_format_word(reader, at, grammar->wide, &value->format);
    if (starts_with_digit(at) && example_of(grammar)) {
        aps_reader_error(reader, at,
                         "'%s' must be a word, as in %s, not '%.80s'",
                         key->text, example_of(grammar), at->text);
        return -1;
    }
    if (aps_refuse_blanks(reader, at, key->text, grammar->words) ||
        refuse_described(reader, key, at, grammar))
        return -1;
    value->word = aps_look_up(reader, at, key->text, grammar->words);
    return value->word < 0 ? -1 : 0;
}

/* Reads {WORD: ...}. */
static int read_word_mapping(const struct aps_reader *reader,
                             const struct aps_yaml_node *key,
                             const struct aps_yaml_node *word,
                             const struct aps_grammar *grammar,
                             struct aps_value *value)
{
    static const struct aps_choice none = {NULL, NULL};
    const struct aps_choice *choice = &none;
    int result;

    if (read_choice(reader, key, word, grammar, value) < 0)
        return -1;
    if (grammar->choices && value->word >= 0)
        choice = &grammar->choices[value->word];
    set_defaults(choice->parameters, value);
    switch (word->value->kind) {
    case APS_YAML_BAD:
        return -1;
    case APS_YAML_SCALAR:
        result = read_single(reader, word, choice, value);
        break;
    default: /* reports a list */
        result = read_parameters(reader, word->value, word->text,
                                 choice->parameters, value);
    }
    return result < 0 ? -1 : settle(reader, word, choice, value);
}

/* Returns the first key of a mapping that is not reserved for others, or
 * NULL. */
static const struct aps_yaml_node *first_key(const struct aps_yaml_node *node)
{
    const struct aps_yaml_node *key = node->first;

    while (key && aps_key_is_ignored(key))
        key = key->next;
    return key;
}

/* True if the key is a parameter of the key itself, or a misspelt one. */
static bool is_own(const struct aps_grammar *grammar,
                   const struct aps_yaml_node *key)
{
    struct aps_nearest nearest = {.word = key->text};

    for (int i = 0; grammar->own && grammar->own[i].name; i++) {
        if (aps_same_word(grammar->own[i].name, key->text))
            return true;
        aps_nearest_offer(&nearest, grammar->own[i].name);
    }
    return nearest.best &&
           aps_keywords_find(grammar->words->known, key->text) < 0;
}

static int read_mapping(const struct aps_reader *reader,
                        const struct aps_yaml_node *key,
                        const struct aps_grammar *grammar,
                        struct aps_value *value)
{
    const struct aps_yaml_node *word = first_key(key->value);
    const struct aps_yaml_node *next;

    value->at = key->value;
    if (!word) {
        aps_reader_error(reader, key->value, "'%s' is empty", key->text);
        return -1;
    }
    if (is_own(grammar, word)) {
        value->word = APS_WORD_OWN;
        set_defaults(grammar->own, value);
        return read_parameters(reader, key->value, key->text, grammar->own,
                               value);
    }
    next = word->next;
    while (next && aps_key_is_ignored(next))
        next = next->next;
    if (next) {
        aps_reader_error(reader, next,
                         "'%s' takes one word, and '%s' precedes '%s'; write "
                         "parameters in braces after the word: %s: {%s: {...}}",
                         key->text, word->text, next->text, key->text,
                         word->text);
        return -1;
    }
    return read_word_mapping(reader, key, word, grammar, value);
}

int aps_read_value(const struct aps_reader *reader,
                   const struct aps_yaml_node *key,
                   const struct aps_grammar *grammar, struct aps_value *value)
{
    const struct aps_choice *choice;

    *value = (struct aps_value){.word = APS_WORD_OWN};
    if (key->value->kind == APS_YAML_MAPPING)
        return read_mapping(reader, key, grammar, value);
    if (!aps_read_text(reader, key) ||
        read_choice(reader, key, key->value, grammar, value) < 0)
        return -1;
    if (!grammar->choices || value->word < 0)
        return 0;
    choice = &grammar->choices[value->word];
    set_defaults(choice->parameters, value);
    return settle(reader, key->value, choice, value);
}
