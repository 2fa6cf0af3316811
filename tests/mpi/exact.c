/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions in FP32 (e8m23) give the FP32 sum in the order of the reduction,
 * bit for bit: nothing is rounded that FP32 would not round, and `accumulate:
 * format` rounds nothing either. `exact policy` prints the policy to run with.
 */
#include "config.h"

#include <mpi.h>
#include <string.h>

#include "calls.h"
#include "mpitap.h"

/* More chunks than are under way at a time. */
#define LONG_COUNT 1000003

static const size_t counts[] = {1, 7, 1024, 1025};

static const struct way shapes[] = {
    {.reduce = REDUCE_DIRECT},
    {.reduce = REDUCE_HIERARCHICAL},
    {.reduce = REDUCE_HIERARCHICAL, .group = 2},
    {.reduce = REDUCE_RING},
    {.reduce = REDUCE_MASTER},
    {.reduce = REDUCE_MASTER, .group = 2},
    {.reduce = REDUCE_GATHER},
};

static const enum scale scales[] = {SCALE_NONE, SCALE_APS, SCALE_TIGHT};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

#define CALLS_OF_WAY (LENGTH(counts) * HOWS + FILLS)

static struct call calls[LENGTH(shapes) * LENGTH(scales) * 2 * CALLS_OF_WAY];
static size_t call_count;

static void add(const struct way *way, size_t count, enum fill fill_kind,
                enum how how)
{
    calls[call_count++] = (struct call){*way, count, fill_kind, how};
}

static void add_fills(const struct way *way)
{
    for (int kind = 0; kind < FILLS; kind++)
        /* The sums of these values need more range than e8m23 has: APS loses
         * the values at the lower end. */
        if (kind != FILL_HUGE || way->scale != SCALE_APS)
            add(way, 1025, (enum fill)kind,
                kind % 2 ? HOW_PLAIN : HOW_IN_PLACE);
}

/* Adds a shape at every scale; all other settings are tried at one scale. */
static void add_shape(struct way way, size_t full)
{
    for (size_t c = 0; c < LENGTH(scales); c++) {
        way.format = "e8m23";
        way.scale = scales[c];
        way.accumulate = ACCUMULATE_FP32;
        for (size_t i = 0; i < LENGTH(counts) && c == full; i++)
            for (int how = 0; how < HOWS; how++)
                add(&way, counts[i], FILL_GRADIENTS, (enum how)how);
        add_fills(&way);
        if (c == full)
            add(&way, LONG_COUNT, FILL_WIDE,
                way.group ? HOW_IN_PLACE : HOW_PLAIN);
        way.accumulate = ACCUMULATE_FORMAT;
        if (way_is_allowed(&way))
            add_fills(&way);
    }
}

static void add_ways(void)
{
    for (size_t s = 0; s < LENGTH(shapes); s++)
        add_shape(shapes[s], s % LENGTH(scales));
}

static void test_nothing(void)
{
    float in = 1, out = 2;
    bool good = MPI_Allreduce(&in, &out, 0, MPI_FLOAT, MPI_SUM,
                              MPI_COMM_WORLD) == MPI_SUCCESS;

    good = good && MPI_Allreduce(MPI_IN_PLACE, &out, 0, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_WORLD) == MPI_SUCCESS;
    ok_all(good && out == 2, "no elements: nothing is written");
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
    test_nothing();
    calls_run(call_count, calls, reference_exact);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
