/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps, and calls that do not fit them. The arguments are calls to make,
 * COUNT[:LAYERS]. LAYERS has a letter for each layer that the call should carry:
 * n(ative), the exact sum, or r(ounded) to e3m0. All layers of a call without letters
 * must be of one kind, either kind. `N*(` ... `)` repeats, as one test.
 */
#include "config.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define LONGEST 4096
#define VALUE 1.25f /* in e3m0: 1 */

static unsigned long rewritten;
static int calls;

/* 'n', 'r' or '?' for x[n]; the number of ranks is a power of two. */
static char kind_of(const float *x, size_t n)
{
    const float size = (float)mpitap_size();

    for (size_t i = 1; i < n; i++)
        if (x[i] != x[0])
            return '?';
    return x[0] == VALUE * size ? 'n' : x[0] == size ? 'r' : '?';
}

/* COUNT+COUNT...[:LETTERS] */
static bool make_call(char *text)
{
    static float in[LONGEST], out[LONGEST];
    char *letters = strchr(text, ':');
    size_t counts[32], layers = 0, total = 0, begin = 0;
    char got[33] = "";
    bool good = true;
    char *next = text;

    do {
        counts[layers] = strtoul(next, &next, 10);
        total += counts[layers++];
    } while (*next++ == '+');
    for (size_t i = 0; i < total; i++)
        in[i] = VALUE;
    MPI_Allreduce(in, out, (int)total, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < layers; i++) {
        got[i] = kind_of(out + begin, counts[i]);
        good &= got[i] != '?';
        begin += counts[i];
    }
    if (letters)
        good &= strcmp(letters + 1, got) == 0;
    rewritten += strchr(got, 'r') != NULL;
    if (!good)
        diag("rank %d: call %d, %s, came out as %s", mpitap_rank(), calls, text,
             got);
    calls++;
    return good;
}

/* The place of the group's end. */
static int end_of(char **argv, int first)
{
    while (strcmp(argv[first], ")") != 0)
        first++;
    return first;
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    for (int i = 1; i < argc; i++) {
        int first = calls;
        bool good = true;

        if (strstr(argv[i], "*(")) {
            int end = end_of(argv, i);

            for (int times = atoi(argv[i]); times > 0; times--)
                for (int k = i + 1; k < end; k++)
                    good &= make_call(argv[k]);
            i = end;
        } else {
            good = make_call(argv[i]);
        }
        ok_all(good, "calls %d to %d", first, calls - 1);
    }
    expect_rewritten(rewritten);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
