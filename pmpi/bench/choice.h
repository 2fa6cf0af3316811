/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes, formats and reductions that the all-reduce bench measures, from the
 * command line; and the policy for them.
 *
 * A program cannot tell the library how to reduce a call: the policy does, by
 * the number of elements. So every format and reduction has its own number of
 * extra elements, 1, 2 ..., and a rule for exactly n + extra elements.
 */
#ifndef APS_BENCH_CHOICE_H
#define APS_BENCH_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CHOICE_FORMATS 8
#define CHOICE_REDUCES 6
#define CHOICE_SIZES 32
/* Limit of the extra elements, so that the neighbours 1000 and 1024 of
 * ResNet-50's layers remain distinct. */
#define CHOICE_EXTRA 24

struct choice_format {
    char name[16];
    int mantissa; /* bits */
    int width;    /* bits on the wire, sign and exponent with them */
};

struct choice {
    size_t sizes[CHOICE_SIZES]; /* elements */
    int size_count;
    struct choice_format formats[CHOICE_FORMATS];
    int format_count;
    char reduces[CHOICE_REDUCES][24];
    int reduce_count;
    const char *tensors_file; /* layer,name,count; NULL: no tensors */
    size_t *tensors;          /* elements of each */
    int tensor_count;
    const char *rule;     /* more of every rule, or NULL */
    const char *csv;      /* or NULL */
    const char *recorded; /* prefix of files of values, or NULL */
    double seconds;       /* time for a size */
    double rounds;        /* minimum number of rounds */
    double warmup;        /* calls before anything is measured */
    double wire_gbit;     /* 0: not given */
    double cold; /* MiB of other memory touched before a call; 0: none */
    bool in_place;
    bool steady; /* all calls have the same values */
    bool no_floor;
    bool no_half;
    bool no_pass; /* neither bypassed, unmatched nor native once more */
};

enum choice_action { CHOICE_RUN, CHOICE_POLICY, CHOICE_HELP, CHOICE_BAD };

/* Reads the command line and the file of tensors. If they are bad, `error` (256
 * bytes) says why. The arguments are kept; choice_clear frees the rest. */
enum choice_action choice_read(int argc, char **argv, struct choice *choice,
                               char *error);
void choice_clear(struct choice *choice);

/* Returns the number of extra elements that select format f and reduction r; and the
 * one whose rule leaves the call to MPI. Without extra elements no rule matches. */
int choice_extra(const struct choice *choice, int f, int r);
int choice_extra_bypassed(const struct choice *choice);

/* Prints the policy for the chosen calls. */
void choice_print_policy(const struct choice *choice, FILE *file);
void choice_print_help(FILE *file);

#endif
