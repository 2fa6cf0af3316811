/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * INF and NaN of one rank arrive on all, and spoil nothing beside them; layers
 * of zeros and of subnormals survive. `nonfinite policy` prints the policy.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "mpitap.h"

#define COUNT 1025

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const char *const formats[] = {"e5m2", "e4m3", "e3m0",  "e5m0", "e8m0",
                                      "e2m3", "e1m4", "e5m10", "e8m7", "e8m23"};

static const struct {
    enum scale scale;
    float fixed;
} scales[] = {
    {SCALE_NONE, 0}, {SCALE_FIXED, 0.5f}, {SCALE_APS, 0}, {SCALE_TIGHT, 0}};

static const struct way shapes[] = {
    {.hierarchical = false},
    {.hierarchical = false, .round_sums = true},
    {.hierarchical = true},
    {.hierarchical = true, .round_sums = true},
    {.hierarchical = true, .group = 2},
    {.hierarchical = true, .node_fp32 = true},
};

/* What goes into the places: by turns when there are two. */
static const struct contribution {
    const char *name;
    float values[2];
} contributions[] = {
    {"INF", {INFINITY, INFINITY}},
    {"-INF", {-INFINITY, -INFINITY}},
    {"NaN", {NAN, NAN}},
    {"INF and NaN", {INFINITY, NAN}},
};

/* First, last, neighbours across a slice's end, and some in the middle. */
static const size_t places[] = {0, 1, 63, 64, 500, 511, 1024};

/* Calls of one way: one for each contribution, then zeros and subnormals. */
#define CALLS_OF_WAY (LENGTH(contributions) + 2)

static struct call
    calls[LENGTH(formats) * LENGTH(scales) * LENGTH(shapes) * CALLS_OF_WAY];
static size_t call_count;

static void add_ways(void)
{
    for (size_t s = 0; s < LENGTH(shapes); s++) {
        for (size_t f = 0; f < LENGTH(formats); f++) {
            for (size_t c = 0; c < LENGTH(scales); c++) {
                struct way way = shapes[s];

                way.format = formats[f];
                way.scale = scales[c].scale;
                way.fixed = scales[c].fixed;
                if (!way_is_allowed(&way))
                    continue;
                for (size_t i = 0; i < CALLS_OF_WAY; i++)
                    calls[call_count++] =
                        (struct call){way, COUNT, FILL_GRADIENTS, HOW_PLAIN};
                calls[call_count - 2].fill = FILL_ZERO;
                calls[call_count - 1].fill = FILL_SUBNORMAL;
            }
        }
    }
}

static float *in[RANKS_MAX];
static float out[COUNT], expected[COUNT];

static void fill_all(const struct call *call, uint64_t seed)
{
    for (int r = 0; r < mpitap_size(); r++)
        fill(call->fill, seed, r, COUNT, in[r]);
}

/* The result at a place where `value` was among the contributions. */
static bool is_alike(float result, float value)
{
    return isnan(value) ? isnan(result) : result == value;
}

/* Formats without NaN may turn the INF of a block that holds NaN into it. */
static bool is_allowed(const struct call *call, float result, float value)
{
    const char *mantissa = strchr(call->way.format, 'm');

    return is_alike(result, value) ||
           (strcmp(mantissa, "m0") == 0 && isnan(result));
}

static bool test_contribution(const struct call *call,
                              const struct contribution *contribution,
                              uint64_t seed)
{
    const int mine = mpitap_rank();
    const int from = (int)(seed % (unsigned)mpitap_size());
    const bool two =
        isnan(contribution->values[0]) != isnan(contribution->values[1]);
    bool good;

    fill_all(call, seed);
    for (size_t i = 0; i < LENGTH(places); i++)
        for (int r = 0; r < mpitap_size(); r++)
            in[r][places[i]] = 0;
    if (mine == 0)
        reference_reduce(&call->way, mpitap_size(), COUNT, in, expected);
    for (size_t i = 0; i < LENGTH(places) && mine == from; i++)
        in[mine][places[i]] = contribution->values[i % 2];
    good = call_make(call, in[mine], out) == MPI_SUCCESS;
    for (size_t i = 0; i < LENGTH(places); i++) {
        float value = contribution->values[i % 2];

        if (two ? is_allowed(call, out[places[i]], value)
                : is_alike(out[places[i]], value))
            expected[places[i]] = out[places[i]];
        else
            expected[places[i]] = value;
        if (!same_float(expected[places[i]], out[places[i]])) {
            diag("rank %d: element %zu is %a, not %a", mine, places[i],
                 out[places[i]], value);
            good = false;
        }
    }
    if (mine == 0) {
        size_t i = first_difference(COUNT, expected, out);

        if (i < COUNT) {
            diag("element %zu is %a, expected %a", i, out[i], expected[i]);
            good = false;
        }
    }
    return same_on_all(out, sizeof out) && good;
}

static bool test_layer(const struct call *call, uint64_t seed)
{
    bool good;
    size_t i;

    fill_all(call, seed);
    good = call_make(call, in[mpitap_rank()], out) == MPI_SUCCESS;
    if (mpitap_rank() == 0) {
        reference_reduce(&call->way, mpitap_size(), COUNT, in, expected);
        i = first_difference(COUNT, expected, out);
        if (i < COUNT) {
            diag("element %zu of %s is %a, expected %a", i,
                 fill_names[call->fill], out[i], expected[i]);
            good = false;
        }
    }
    for (i = 0; i < COUNT && call->fill == FILL_ZERO; i++)
        good &= out[i] == 0;
    /* For the script, which looks into the log. */
    if (mpitap_rank() == 0 && call->fill == FILL_ZERO)
        printf("# zero layer %td\n", call - calls);
    return same_on_all(out, sizeof out) && good;
}

static void run_all(void)
{
    for (size_t first = 0; first < call_count; first += CALLS_OF_WAY) {
        bool good = true;
        char name[128];

        for (size_t i = 0; i < CALLS_OF_WAY; i++) {
            const struct call *call = &calls[first + i];
            bool passed =
                i < LENGTH(contributions)
                    ? test_contribution(call, &contributions[i], first + i)
                    : test_layer(call, first + i);

            if (!passed)
                diag("rank %d: the above with %s", mpitap_rank(),
                     i < LENGTH(contributions) ? contributions[i].name
                                               : fill_names[call->fill]);
            good &= passed;
        }
        ok_all(good, "%s", way_name(&calls[first].way, name, sizeof name));
    }
    expect_rewritten(call_count);
}

int main(int argc, char **argv)
{
    int status;

    add_ways();
    if (argc > 1 && strcmp(argv[1], "policy") == 0) {
        calls_print_policy(stdout, call_count, calls);
        return 0;
    }
    MPI_Init(&argc, &argv);
    mpitap_begin();
    for (int r = 0; r < mpitap_size(); r++)
        in[r] = malloc(COUNT * sizeof *in[r]);
    run_all();
    for (int r = 0; r < mpitap_size(); r++)
        free(in[r]);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
