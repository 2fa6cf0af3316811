/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi snr: the signal-to-noise ratio of a number format for normal values of
 * any magnitude (Figure 2 of Blake, Orr, Luschi: Unit Scaling, ICML 2023).
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "cli/command.h"
#include "cli/problems.h"
#include "number/format.h"
#include "number/parse.h"
#include "number/philox.h"

#define DRAWS ((size_t)1 << 18)
#define LEAST (-24) /* scales 2^LEAST ... 2^MOST */
#define MOST 24

/*
 * Draws x[n] from N(0, 1), by Box and Muller from the random bits of seed 0,
 * equal in every run. n is a multiple of 4.
 */
static void draw(float *x, size_t n)
{
    static const struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    const struct aps_stream stream = aps_stream_init(&options);

    for (size_t i = 0; i < n; i += 4) {
        uint32_t word[4];

        aps_stream_group(&stream, i / 4, word);
        for (size_t j = 0; j < 4; j += 2) {
            const double radius = sqrt(-2 * log((word[j] + 0.5) * 0x1p-32));
            const double angle =
                2 * 3.14159265358979323846 * ((word[j + 1] + 0.5) * 0x1p-32);

            x[i + j] = (float)(radius * cos(angle));
            x[i + j + 1] = (float)(radius * sin(angle));
        }
    }
}

/* Parses a format; a format that can saturate does, so that nothing
 * overflows. */
static int parse(const char *name, struct aps_format *format,
                 struct aps_error *error)
{
    char saturating[APS_FORMAT_NAME + 8];

    if (aps_format_parse(name, format, error) < 0)
        return -1;
    if (format->saturate)
        return 0;
    snprintf(saturating, sizeof saturating, "%s-sat", format->name);
    return aps_format_parse(saturating, format, error);
}

/* Returns 10 log10(sum x^2 / sum (x - y)^2) in dB, where y is x * 2^k
 * rounded. */
static double ratio(const struct aps_format *format, const float *x, size_t n,
                    int k, float *scaled, float *rounded)
{
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    double signal = 0, noise = 0;

    if (format->draws == APS_FORMAT_DRAWS_ALWAYS)
        options.rounding = APS_ROUND_STOCHASTIC;
    for (size_t i = 0; i < n; i++)
        scaled[i] = ldexpf(x[i], k);
    aps_cast_array(format, scaled, n, &options, rounded, NULL);
    for (size_t i = 0; i < n; i++) {
        const double error = (double)scaled[i] - (double)rounded[i];

        signal += (double)scaled[i] * (double)scaled[i];
        noise += error * error;
    }
    return 10 * log10(signal / noise);
}

static void print(const struct aps_arguments *arguments,
                  const struct aps_format *formats, float *x)
{
    float *scaled = x + DRAWS, *rounded = scaled + DRAWS;

    draw(x, DRAWS);
    printf("scale_exp");
    for (size_t f = 0; f < arguments->count; f++)
        printf(",%s", arguments->operands[f]);
    printf("\n");
    for (int k = LEAST; k <= MOST; k++) {
        printf("%d", k);
        for (size_t f = 0; f < arguments->count; f++)
            aps_fprint(stdout, ",%.2f",
                       ratio(&formats[f], x, DRAWS, k, scaled, rounded));
        printf("\n");
    }
}

static int run(const struct aps_arguments *arguments)
{
    struct aps_format *formats = calloc(arguments->count, sizeof *formats);
    float *x = malloc(3 * DRAWS * sizeof *x);
    int status = APS_EXIT_OK;

    if (!formats || !x) {
        perror("apsmpi");
        status = APS_EXIT_FAILURE;
    }
    for (size_t f = 0; status != APS_EXIT_FAILURE && f < arguments->count;
         f++) {
        struct aps_error error;

        if (parse(arguments->operands[f], &formats[f], &error) < 0) {
            fprintf(stderr, "apsmpi: %s\n", error.text);
            status = APS_EXIT_USAGE;
        }
    }
    if (status == APS_EXIT_OK)
        print(arguments, formats, x);
    free(x);
    free(formats);
    return status;
}

const struct aps_subcommand aps_subcommand_snr = {
    .name = "snr",
    .summary = "signal-to-noise ratio of formats over scales",
    .operands = "FORMAT...",
    .help = "Prints CSV: a row for each scale 2^k, k from -24 to 24, and a\n"
            "column for each format, with the signal-to-noise ratio in dB of\n"
            "262144 values of N(0, 1) times 2^k, rounded to nearest and\n"
            "saturating. The values are the same in every run.\n"
            "apsmpi-report --snr draws a picture of it.\n",
    .least = 1,
    .most = INT_MAX,
    .run = run,
};
