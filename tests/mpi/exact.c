/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our reductions on full floats (e8m23) give the FP32 sum in the order that
 * each of them has, bit for bit: nothing is rounded that FP32 would not round,
 * by accumulate: format neither. `exact policy` prints the policy to run with.
 */
#include "config.h"

#include <mpi.h>
#include <string.h>

#include "calls.h"
#include "mpitap.h"

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

#define CALLS_OF_WAY ((int)LENGTH(counts) * HOWS + FILLS)

static struct call
    calls[LENGTH(shapes) * LENGTH(scales) * 2 * (size_t)CALLS_OF_WAY];
static size_t call_count;

static void add(const struct way *way, size_t count, enum fill fill_kind,
                enum how how)
{
    calls[call_count++] = (struct call){*way, count, fill_kind, how};
}

static void add_way(const struct way *way)
{
    for (size_t i = 0; i < LENGTH(counts); i++)
        for (int how = 0; how < HOWS; how++)
            add(way, counts[i], FILL_GRADIENTS, (enum how)how);
    for (int kind = 1; kind < FILLS; kind++)
        /* The sums of these need more range than e8m23 has: with APS what lies
         * at the lower end is lost. */
        if (kind != FILL_HUGE || way->scale != SCALE_APS)
            add(way, 1025, (enum fill)kind,
                kind % 2 ? HOW_PLAIN : HOW_IN_PLACE);
    if (way->accumulate == ACCUMULATE_FP32)
        add(way, LONG_COUNT, FILL_WIDE, way->group ? HOW_IN_PLACE : HOW_PLAIN);
}

static void add_ways(void)
{
    for (size_t s = 0; s < LENGTH(shapes); s++) {
        for (size_t c = 0; c < LENGTH(scales); c++) {
            struct way way = shapes[s];

            way.format = "e8m23";
            way.scale = scales[c];
            if (!way_is_built(&way))
                continue;
            add_way(&way);
            way.accumulate = ACCUMULATE_FORMAT;
            if (way_is_allowed(&way))
                add_way(&way);
        }
    }
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
