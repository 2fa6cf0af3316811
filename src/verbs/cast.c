/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi cast: rounds values to a number format.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number/format.h"
#include "base/digits.h"
#include "base/nearest.h"
#include "base/print.h"
#include "number/parse.h"
#include "verbs/cast_blocks.h"
#include "cli/command.h"
#include "cli/problems.h"
#include "number/bits.h"

#define BLANKS " \t\r\v\f\n"

static const struct {
    const char *name;
    enum aps_rounding rounding;
} roundings[] = {
    {"nearest", APS_ROUND_NEAREST},       {"stochastic", APS_ROUND_STOCHASTIC},
    {"zero", APS_ROUND_TOWARD_ZERO},      {"cpd", APS_ROUND_CPD},
    {"correlated", APS_ROUND_CORRELATED},
};
#define ROUNDINGS (sizeof roundings / sizeof roundings[0])

/* Request of the command line. */
struct job {
    struct aps_format format;
    struct aps_cast_options options; /* offset: number of values before this
                                        one */
    struct aps_cast_values all;      /* for a format in blocks */
    int status;
};

/* --- values -------------------------------------------------------------- */

/*
 * Reads a decimal or hexadecimal number, "inf", "infinity" or "nan", with or
 * without a sign, rounded to float. Returns NULL, or a description of the
 * error.
 */
static const char *parse_value(const char *text, float *value)
{
    const char *digits = text + (*text == '+' || *text == '-');
    char *end;

    /* strtof skips blanks, and accepts nan(...) */
    if (strchr(BLANKS, *digits) || strchr(digits, '('))
        return "is not a number";
    errno = 0;
    *value = strtof(text, &end);
    if (end == text || *end)
        return "is not a number";
    if (errno == ERANGE && isinf(*value))
        return "is too large for a float";
    return NULL;
}

/* Returns value - input, rounded to double; 0 if they are equal, INF too. */
static double error_of(float input, float value)
{
    if (isnan(input) || isnan(value))
        return (double)NAN;
    return value == input ? 0 : (double)value - (double)input;
}

/* Prints one line for one value; `place` precedes the description of an
 * error. */
static void cast(struct job *job, const char *place, const char *text)
{
    const struct aps_format *format = &job->format;
    uint8_t packed[4] = {0};
    const char *cause;
    float input, value;
    uint32_t code;

    cause = parse_value(text, &input);
    if (cause) {
        fprintf(stderr, "apsmpi: %s'%s' %s\n", place, text, cause);
        job->status = APS_EXIT_FAILURE;
        return;
    }
    if (format->block > 1) {
        if (aps_cast_values_add(&job->all, text, input) < 0) {
            perror("apsmpi");
            job->status = APS_EXIT_FAILURE;
        }
        return;
    }
    aps_encode_array(format, &input, 1, &job->options, packed, NULL);
    aps_cast_array(format, &input, 1, &job->options, &value, NULL);
    job->options.offset++;
    code = packed[0] | (uint32_t)packed[1] << 8 | (uint32_t)packed[2] << 16 |
           (uint32_t)packed[3] << 24;
    aps_fprint(stdout, "%s\t0x%0*x\t%a\t%a\n", text, (format->width + 3) / 4,
               code, (double)value, error_of(input, value));
}

/* Reads values from standard input, separated by blanks or newlines. */
static void cast_stdin(struct job *job)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;

    for (long number = 1; (length = getline(&line, &size, stdin)) >= 0;
         number++) {
        char place[48], *rest = NULL;

        snprintf(place, sizeof place, "standard input:%ld: ", number);
        if (strlen(line) != (size_t)length) {
            fprintf(stderr,
                    "apsmpi: %sthe line holds a NUL byte and is skipped\n",
                    place);
            job->status = APS_EXIT_FAILURE;
            continue;
        }
        for (char *word = strtok_r(line, BLANKS, &rest); word;
             word = strtok_r(NULL, BLANKS, &rest))
            cast(job, place, word);
    }
    if (ferror(stdin)) {
        perror("apsmpi: standard input");
        job->status = APS_EXIT_FAILURE;
    }
    free(line);
}

/* --- the command line ---------------------------------------------------- */

static int parse_rounding(const struct aps_arguments *arguments,
                          const char *name, enum aps_rounding *rounding)
{
    struct aps_nearest nearest = {.word = name};
    char hint[APS_HINT_MAX];

    for (size_t i = 0; i < ROUNDINGS; i++) {
        if (strcmp(name, roundings[i].name) == 0) {
            *rounding = roundings[i].rounding;
            return 0;
        }
        aps_nearest_offer(&nearest, roundings[i].name);
    }
    return aps_problems_fail(
        arguments, -1,
        "--rounding must be nearest, stochastic, zero, cpd or correlated, not "
        "'%s'%s",
        name, aps_nearest_hint(nearest.best, hint));
}

static int parse_seed(const struct aps_arguments *arguments, const char *text,
                      uint64_t *seed)
{
    uintmax_t number;

    if (aps_digits_parse(text, strlen(text), UINT64_MAX, &number) < 0)
        return aps_problems_fail(
            arguments, -1, "--seed must be a number from 0 to 2^64-1, not '%s'",
            text);
    *seed = number;
    return 0;
}

/* Reads "RANK/RANKS", for correlated rounding. */
static int parse_rank(const struct aps_arguments *arguments, const char *text,
                      struct aps_cast_options *options)
{
    const char *slash = strchr(text, '/');
    uintmax_t rank, ranks;

    if (!slash ||
        aps_digits_parse(text, (size_t)(slash - text), UINT32_MAX - 1, &rank) <
            0 ||
        aps_digits_parse(slash + 1, strlen(slash + 1), UINT32_MAX, &ranks) <
            0 ||
        rank >= ranks)
        return aps_problems_fail(
            arguments, -1,
            "--rank must be a rank and how many there are, "
            "such as 0/4, not '%s'",
            text);
    options->rank = (uint32_t)rank;
    options->ranks = ranks;
    return 0;
}

static int run(const struct aps_arguments *arguments)
{
    const char *rounding = aps_arguments_option(arguments, "rounding");
    const char *seed = aps_arguments_option(arguments, "seed");
    const char *rank = aps_arguments_option(arguments, "rank");
    struct job job = {.options = APS_CAST_OPTIONS_INIT, .status = APS_EXIT_OK};
    struct aps_error error;

    if ((rounding &&
         parse_rounding(arguments, rounding, &job.options.rounding) < 0) ||
        (seed && parse_seed(arguments, seed, &job.options.seed) < 0) ||
        (rank && parse_rank(arguments, rank, &job.options) < 0))
        return APS_EXIT_USAGE;
    if (aps_format_parse(arguments->operands[0], &job.format, &error) < 0)
        return aps_problems_fail(arguments, APS_EXIT_USAGE, "%s", error.text);
    if (!rounding && job.format.draws == APS_FORMAT_DRAWS_ALWAYS)
        job.options.rounding = APS_ROUND_STOCHASTIC;
    if (aps_cast_array(&job.format, NULL, 0, &job.options, NULL, &error) < 0)
        return aps_problems_fail(arguments, APS_EXIT_USAGE, "%s", error.text);
    for (size_t i = 1; i < arguments->count; i++)
        cast(&job, "", arguments->operands[i]);
    if (arguments->count == 1)
        cast_stdin(&job);
    if (job.format.block > 1 &&
        aps_cast_values_print(&job.all, &job.format, &job.options) < 0) {
        perror("apsmpi");
        job.status = APS_EXIT_FAILURE;
    }
    aps_cast_values_clear(&job.all);
    return job.status;
}

const struct aps_subcommand aps_subcommand_cast = {
    .name = "cast",
    .summary = "round values to a number format",
    .operands = "FORMAT [VALUE...]",
    .help =
        "Prints one line for each value, of four columns with tabs between\n"
        "them: the value as given, its code, what the code means, and\n"
        "the difference to the value, as FP32 takes it. Values are decimal\n"
        "or hexadecimal numbers, inf or nan; without any they are read\n"
        "from standard input. Words that are not are reported on standard\n"
        "error, the others printed all the same, and the exit status is 1.\n"
        "For a format in blocks, all values are one array, and the second\n"
        "column is scale:code, the scale that of the value's block; in nvfp4\n"
        "the FP32 scale of all values goes before it: scale:scale:code.\n",
    .options = {{"rounding", "RULE",
                 "nearest (the default), stochastic, zero, cpd, correlated"},
                {"seed", "N", "of random bits; value number i is element i"},
                {"rank", "R/N", "of correlated: rank R of N"}},
    .numbers = true,
    .least = 1,
    .most = INT_MAX,
    .run = run,
};
