/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions in few bits give what a plain repetition of the same roundings
 * gives, bit for bit, on every rank. `rounded policy` prints the policy.
 */
#include "config.h"

#include <mpi.h>
#include <string.h>

#include "calls.h"
#include "mpitap.h"

/* More than a chunk of either reduction, and a last slice that is not whole. */
#define LONG_COUNT 600001

static const char *const formats[] = {"e5m2", "e4m3", "e3m0", "e5m10",
                                      "e2m3", "e8m7", "e6m9", "e1m4"};

static const struct {
    enum scale scale;
    float fixed;
} scales[] = {{SCALE_NONE, 0},
              {SCALE_FIXED, 1024},
              {SCALE_FIXED, 1000},
              {SCALE_APS, 0},
              {SCALE_TIGHT, 0}};

/* Reduction, group, node, accumulation. */
static const struct way shapes[] = {
    {.hierarchical = false},
    {.hierarchical = false, .round_sums = true},
    {.hierarchical = true},
    {.hierarchical = true, .round_sums = true},
    {.hierarchical = true, .node_fp32 = true},
    {.hierarchical = true, .node_fp32 = true, .round_sums = true},
    {.hierarchical = true, .group = 2},
    {.hierarchical = true, .group = 2, .round_sums = true},
    {.hierarchical = true, .group = 2, .node_fp32 = true},
    {.hierarchical = true, .group = 2, .node_fp32 = true, .round_sums = true},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct call calls[LENGTH(formats) * LENGTH(scales) * LENGTH(shapes) * 4];
static size_t call_count;

static void add(const struct way *way, size_t count, enum fill fill_kind)
{
    enum how how = call_count % 2 ? HOW_IN_PLACE : HOW_PLAIN;

    calls[call_count++] = (struct call){*way, count, fill_kind, how};
}

static void add_ways(void)
{
    size_t turn = 0;

    for (size_t s = 0; s < LENGTH(shapes); s++) {
        for (size_t f = 0; f < LENGTH(formats); f++) {
            for (size_t c = 0; c < LENGTH(scales); c++) {
                struct way way = shapes[s];

                way.format = formats[f];
                way.scale = scales[c].scale;
                way.fixed = scales[c].fixed;
                if (!way_is_allowed(&way))
                    continue;
                add(&way, 7, FILL_GRADIENTS);
                add(&way, 1025, FILL_GRADIENTS);
                add(&way, 1025, FILL_WIDE);
                /* Reaches every shape, format and scale, not all of their
                 * combinations. */
                if (turn++ % 16 == 0)
                    add(&way, LONG_COUNT, FILL_GRADIENTS);
            }
        }
    }
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
    calls_run(call_count, calls, reference_reduce);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
