/* SPDX-License-Identifier: BSD-3-Clause */
#include "digits_options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

/* A numeric option: its range, and the place of its value. */
struct setting {
    const char *name;
    double min, max;
    long *whole;
    float *real;
};

void options_usage(void)
{
    if (rank != 0)
        return;
    puts("usage: digits [options]\n"
         "  --data FILE     images, 64 features 0..16 and a label a line\n"
         "                  (default: digits.csv beside the program)\n"
         "  --epochs N      passes over the training images (20)\n"
         "  --batch N       images in one step, over all ranks (128)\n"
         "  --lr X          learning rate (0.2)\n"
         "  --momentum X    momentum, 0 to 1 (0.9)\n"
         "  --seed N        initial weights and shuffling (1)\n"
         "  --hidden N      width of the two hidden layers (64)\n"
         "  --order ORDER   order of the all-reduce calls: forward (default)\n"
         "                  or backward, as the gradients are produced\n"
         "  --fused         one all-reduce for the whole gradient\n"
         "  --help          this text");
}

static int parse_number(const struct setting *set, const char *text)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end != '\0' || !(v >= set->min && v <= set->max) ||
        (set->whole != NULL && v != floor(v))) {
        complain("%s: '%s' is not a %snumber from %g to %g", set->name, text,
                 set->whole ? "whole " : "", set->min, set->max);
        return -1;
    }
    if (set->whole != NULL)
        *set->whole = (long)v;
    else
        *set->real = (float)v;
    return 0;
}

static int parse_order(const char *text, int *backward)
{
    if (strcmp(text, "forward") != 0 && strcmp(text, "backward") != 0) {
        complain("--order: '%s' is neither forward nor backward", text);
        return -1;
    }
    *backward = text[0] == 'b';
    return 0;
}

int options_parse(int argc, char **argv, struct options *opt)
{
    const struct setting settings[] = {
        {"--epochs", 0, 1e6, &opt->epochs, NULL},
        {"--batch", 1, MAX_IMAGES, &opt->batch, NULL},
        {"--hidden", 1, MAX_HIDDEN, &opt->hidden, NULL},
        {"--seed", 0, 0x1p31 - 1, &opt->seed, NULL},
        {"--lr", 0, 1000, NULL, &opt->lr},
        {"--momentum", 0, 1, NULL, &opt->momentum},
        {"--data", 0, 0, NULL, NULL},
        {"--order", 0, 0, NULL, NULL},
    };
    const size_t known = sizeof settings / sizeof *settings;

    for (int i = 1; i < argc; i++) {
        size_t k = 0;
        int status = 0;

        if (strcmp(argv[i], "--fused") == 0) {
            opt->fused = 1;
            continue;
        }
        if (strcmp(argv[i], "--help") == 0) {
            opt->help = 1;
            continue;
        }
        while (k < known && strcmp(argv[i], settings[k].name) != 0)
            k++;
        if (k == known) {
            complain("unknown argument '%s' (--help lists them)", argv[i]);
            return -1;
        }
        if (++i == argc) {
            complain("%s needs a value", settings[k].name);
            return -1;
        }
        if (settings[k].whole != NULL || settings[k].real != NULL)
            status = parse_number(&settings[k], argv[i]);
        else if (strcmp(settings[k].name, "--order") == 0)
            status = parse_order(argv[i], &opt->backward);
        else
            opt->data = argv[i];
        if (status != 0)
            return -1;
    }
    if (opt->fused && opt->backward) {
        complain("--fused has no order: leave out --order backward");
        return -1;
    }
    return 0;
}
