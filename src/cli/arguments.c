/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cli/arguments.h"

#include <string.h>

#include "base/nearest.h"

/* Width of "--option ARGUMENT" in the help. */
#define OPTION_WIDTH 16

/* Options of every subcommand. */
static const struct aps_subcommand_option common[] = {
    {"help", NULL, "this text; -h is the same"},
    {"version", NULL, "the version"},
    {.name = NULL},
};

static const struct aps_subcommand_option *
find(const struct aps_subcommand_option *options, const char *name,
     size_t length)
{
    for (; options->name; options++)
        if (strlen(options->name) == length &&
            memcmp(options->name, name, length) == 0)
            return options;
    return NULL;
}

static int unknown(const struct aps_subcommand *subcommand, const char *word,
                   char *cause, size_t size)
{
    const size_t length = strcspn(word, "=");
    char name[APS_NEAREST_MAX], near[APS_NEAREST_MAX + 2];
    char hint[APS_HINT_MAX];
    struct aps_nearest nearest = {.word = name};

    snprintf(name, sizeof name, "%.*s", (int)length,
             word + (length > 1 && word[1] == '-' ? 2 : 1));
    name[strcspn(name, "=")] = '\0';
    for (size_t i = 0; subcommand->options[i].name; i++)
        aps_nearest_offer(&nearest, subcommand->options[i].name);
    for (size_t i = 0; common[i].name; i++)
        aps_nearest_offer(&nearest, common[i].name);
    snprintf(near, sizeof near, "--%s", nearest.best ? nearest.best : "");
    snprintf(cause, size, "unknown option '%.*s'%s",
             (int)(length < APS_NEAREST_MAX ? length : APS_NEAREST_MAX), word,
             aps_nearest_hint(nearest.best ? near : NULL, hint));
    return -1;
}

/* Reads the option at argv[*i], which begins with --, and moves *i past a value
 * that is an argument of its own. */
static int take_option(struct aps_arguments *arguments, char **argv, int *i,
                       char *cause, size_t size)
{
    const struct aps_subcommand *subcommand = arguments->subcommand;
    const char *word = argv[*i];
    const size_t length = strcspn(word + 2, "=");
    const char *value = word[2 + length] == '=' ? word + length + 3 : NULL;
    const struct aps_subcommand_option *option =
        find(subcommand->options, word + 2, length);

    if (!option) {
        option = find(common, word + 2, length);
        if (!option)
            return unknown(subcommand, word, cause, size);
    }
    if (!option->argument && value) {
        snprintf(cause, size, "--%s takes no value", option->name);
        return -1;
    }
    if (option == &common[0]) {
        arguments->help = true;
    } else if (option == &common[1]) {
        arguments->version = true;
    } else {
        if (option->argument && !value)
            value = argv[*i + 1] ? argv[++*i] : NULL;
        if (option->argument && !value) {
            snprintf(cause, size, "--%s needs a value", option->name);
            return -1;
        }
        arguments->options[option - subcommand->options] = value ? value : "";
    }
    return 0;
}

/* True if --json is one of the words; messages depend on it even if others are
 * wrong. */
static bool wants_json(const struct aps_subcommand *subcommand, char **argv)
{
    if (!find(subcommand->options, "json", 4))
        return false;
    for (int i = 1; argv[i] && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

static int check_count(const struct aps_arguments *arguments, char *cause,
                       size_t size)
{
    const struct aps_subcommand *subcommand = arguments->subcommand;

    if (arguments->help || arguments->version)
        return 0;
    if (arguments->count < subcommand->least)
        snprintf(cause, size, "%s is missing", subcommand->operands);
    else if (arguments->count > subcommand->most)
        snprintf(cause, size, "'%.80s' is one argument too many",
                 arguments->operands[subcommand->most]);
    else
        return 0;
    return -1;
}

int aps_arguments_parse(const struct aps_subcommand *subcommand, int argc,
                        char **argv, struct aps_arguments *arguments,
                        char *cause, size_t size)
{
    char **end = argv + 1;
    bool only_operands = false;

    *arguments = (struct aps_arguments){
        .subcommand = subcommand,
        .operands = (const char *const *)argv + 1,
        .json = wants_json(subcommand, argv),
    };
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];

        if (only_operands || word[0] != '-' || word[1] == '\0' ||
            (subcommand->numbers && word[1] != '-' && strcmp(word, "-h") != 0))
            *end++ = word;
        else if (strcmp(word, "--") == 0)
            only_operands = true;
        else if (strcmp(word, "-h") == 0)
            arguments->help = true;
        else if (word[1] != '-')
            return unknown(subcommand, word, cause, size);
        else if (take_option(arguments, argv, &i, cause, size) < 0)
            return -1;
    }
    arguments->count = (size_t)(end - argv) - 1;
    return check_count(arguments, cause, size);
}

const char *aps_arguments_option(const struct aps_arguments *arguments,
                                 const char *name)
{
    const struct aps_subcommand_option *options =
        arguments->subcommand->options;
    const struct aps_subcommand_option *option =
        find(options, name, strlen(name));

    return option ? arguments->options[option - options] : NULL;
}

void aps_arguments_usage(const struct aps_subcommand *subcommand, FILE *stream)
{
    fprintf(stream, "usage: apsmpi %s", subcommand->name);
    for (size_t i = 0; subcommand->options[i].name; i++) {
        const struct aps_subcommand_option *option = &subcommand->options[i];

        fprintf(stream, " [--%s%s%s]", option->name,
                option->argument ? " " : "",
                option->argument ? option->argument : "");
    }
    fprintf(stream, "%s%s\n", subcommand->operands[0] ? " " : "",
            subcommand->operands);
}

static void print_options(const struct aps_subcommand_option *options,
                          FILE *stream)
{
    for (; options->name; options++) {
        const char *line = options->help;
        int used = fprintf(stream, "  --%s%s%s", options->name,
                           options->argument ? " " : "",
                           options->argument ? options->argument : "");

        while (*line) {
            const size_t length = strcspn(line, "\n");

            fprintf(stream, "%*s  %.*s\n",
                    used < OPTION_WIDTH + 2 ? OPTION_WIDTH + 2 - used : 0, "",
                    (int)length, line);
            used = 0;
            line += length + (line[length] == '\n');
        }
    }
}

void aps_arguments_help(const struct aps_subcommand *subcommand, FILE *stream)
{
    aps_arguments_usage(subcommand, stream);
    fprintf(stream, "\n%s\n", subcommand->help);
    print_options(subcommand->options, stream);
    print_options(common, stream);
}
