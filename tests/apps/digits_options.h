/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's command line.
 */
#ifndef DIGITS_OPTIONS_H
#define DIGITS_OPTIONS_H

struct options {
    const char *data; /* NULL: digits.csv next to the program */
    long epochs;
    long batch; /* images of all ranks in one step */
    long hidden;
    long seed;
    float lr;
    float momentum;
    int backward; /* reduce each tensor as the backward pass produces it */
    int fused;    /* reduce the whole gradient in one call */
    int help;
};

void options_usage(void);

/* Returns 0, or -1 after rank 0 has printed the error. *opt has the defaults. */
int options_parse(int argc, char **argv, struct options *opt);

#endif
