/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * INF and NaN of one rank arrive on all ranks, and spoil no other element;
 * layers of zeros and of subnormals survive. A run takes half of the ways,
 * which the first argument chooses; `nonfinite TURN policy` prints the policy.
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
    {.reduce = REDUCE_DIRECT},
    {.reduce = REDUCE_DIRECT, .accumulate = ACCUMULATE_FORMAT},
    {.reduce = REDUCE_DIRECT, .accumulate = ACCUMULATE_KAHAN},
    {.reduce = REDUCE_HIERARCHICAL},
    {.reduce = REDUCE_HIERARCHICAL, .accumulate = ACCUMULATE_FORMAT},
    {.reduce = REDUCE_HIERARCHICAL, .accumulate = ACCUMULATE_KAHAN},
    {.reduce = REDUCE_HIERARCHICAL, .group = 2},
    {.reduce = REDUCE_HIERARCHICAL, .node_fp32 = true},
    {.reduce = REDUCE_RING},
    {.reduce = REDUCE_RING, .accumulate = ACCUMULATE_FORMAT},
    {.reduce = REDUCE_MASTER},
    {.reduce = REDUCE_MASTER, .accumulate = ACCUMULATE_FORMAT},
    {.reduce = REDUCE_MASTER, .group = 2},
    {.reduce = REDUCE_MASTER, .group = 2, .accumulate = ACCUMULATE_FORMAT},
    {.reduce = REDUCE_GATHER},
    {.reduce = REDUCE_GATHER, .accumulate = ACCUMULATE_FORMAT},
    {.reduce = REDUCE_GATHER, .accumulate = ACCUMULATE_KAHAN},
};

/* Values that go into the places; two values alternate. */
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

static void add_ways(size_t turn)
{
    for (size_t s = 0; s < LENGTH(shapes); s++) {
        for (size_t f = 0; f < LENGTH(formats); f++) {
            for (size_t c = 0; c < LENGTH(scales); c++) {
                struct way way = shapes[s];

                way.format = formats[f];
                way.scale = scales[c].scale;
                way.fixed = scales[c].fixed;
                if ((s + f + c) % 2 != turn || !way_is_allowed(&way))
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

/* True if `result` is allowed at a place where `value` was among the contributions. */
static bool is_alike(float result, float value)
{
    return isnan(value) ? isnan(result) : result == value;
}

/*
 * Formats without NaN may turn the INF of a block that holds NaN into NaN. If
 * Kahan's sum lost a term to an INF, the lost term is a NaN, which is added to
 * the next contribution.
 */
static bool is_allowed(const struct call *call, bool beside_nan, float result,
                       float value)
{
    const bool without_nan = strcmp(strchr(call->way.format, 'm'), "m0") == 0;

    return is_alike(result, value) ||
           (isnan(result) && ((without_nan && beside_nan) ||
                              call->way.accumulate == ACCUMULATE_KAHAN));
}

/* On rank 0: true if `out` is the reference's result for in[]. */
static bool test_reference(const struct call *call, const char *what)
{
    size_t i;

    reference_reduce(&call->way, mpitap_size(), COUNT, in, expected);
    i = first_difference(COUNT, expected, out);
    if (i == COUNT)
        return true;
    diag("element %zu of %s is %a, expected %a", i, what, out[i], expected[i]);
    return false;
}

/* On rank 0: true if INF and NaN change no elements outside the places. */
static bool test_others(const struct call *call)
{
    for (size_t i = 0; i < LENGTH(places); i++)
        for (int r = 0; r < mpitap_size(); r++)
            in[r][places[i]] = 0;
    reference_reduce(&call->way, mpitap_size(), COUNT, in, expected);
    for (size_t i = 0; i < LENGTH(places); i++)
        expected[places[i]] = out[places[i]];
    for (size_t i = 0; i < COUNT; i++) {
        if (same_float(expected[i], out[i]))
            continue;
        diag("element %zu is %a, expected %a", i, out[i], expected[i]);
        return false;
    }
    return true;
}

static bool test_contribution(const struct call *call,
                              const struct contribution *contribution,
                              uint64_t seed)
{
    const int mine = mpitap_rank();
    const int from = (int)(seed % (unsigned)mpitap_size());
    const bool beside_nan =
        isnan(contribution->values[0]) != isnan(contribution->values[1]);
    bool good;

    fill_all(call, seed);
    for (size_t i = 0; i < LENGTH(places); i++)
        for (int r = 0; r < mpitap_size(); r++)
            in[r][places[i]] = r == from ? contribution->values[i % 2] : 0;
    good = call_make(call, in[mine], out) == MPI_SUCCESS;
    for (size_t i = 0; i < LENGTH(places); i++) {
        float value = contribution->values[i % 2];

        if (is_allowed(call, beside_nan, out[places[i]], value))
            continue;
        diag("rank %d: element %zu is %a, not %a", mine, places[i],
             out[places[i]], value);
        good = false;
    }
    if (mine == 0) {
        good &= test_reference(call, contribution->name);
        good &= test_others(call);
    }
    return same_on_all(out, sizeof out) && good;
}

static bool test_layer(const struct call *call, uint64_t seed)
{
    bool good;

    fill_all(call, seed);
    good = call_make(call, in[mpitap_rank()], out) == MPI_SUCCESS;
    if (mpitap_rank() == 0)
        good &= test_reference(call, fill_names[call->fill]);
    for (size_t i = 0; i < COUNT && call->fill == FILL_ZERO; i++)
        good &= out[i] == 0;
    /* The script looks for these in the log. */
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

    if (argc < 2)
        return 2;
    add_ways((size_t)atoi(argv[1]));
    if (argc > 2 && strcmp(argv[2], "policy") == 0) {
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
