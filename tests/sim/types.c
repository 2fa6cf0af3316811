/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the round-off where gradients of 16 and 64 bits are summed: types GRADIENTS.
 *
 * The native sum rounds each addition to the type, in the order of the simulator's
 * all-reduce (that of MPICH: recursive doubling). Prints the table as comments, and as
 * TAP that all ranks hold the same bits.
 */
#include "config.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/memory_relay.h"
#include "model.h"
#include "mpitap.h"
#include "number/parse.h"
#include "plans.h"
#include "roundoff/measure.h"

#define COUNT GRADIENTS_VALUES

static enum aps_element element;     /* the type under test */
static double in[COUNT], out[COUNT]; /* room for elements of every type */
static float values[COUNT];
static double exact[COUNT]; /* on rank 0 */

static void add(void *from, void *sum, int *n, MPI_Datatype *type)
{
    const struct aps_memory *memory = aps_memory_relay(element);
    float a[COUNT], b[COUNT];

    (void)type;
    memory->copy_out(a, from, (size_t)*n);
    memory->copy_out(b, sum, (size_t)*n);
    for (int i = 0; i < *n; i++)
        b[i] += a[i];
    memory->copy_in(sum, b, (size_t)*n);
}

static void sum_native(void)
{
    MPI_Op op;

    MPI_Op_create(add, 1, &op);
    PMPI_Allreduce(in, out, COUNT, MPI_SHORT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
}

/* Sums by `direct` in a format, with scale aps or without a scale. */
static void sum_in(struct aps_reductions *reductions, const char *format,
                   bool scaled)
{
    struct aps_plan plan = plan_direct();
    struct aps_cost cost = {0};
    struct aps_vector vector = {
        .in = in, .out = out, .n = COUNT, .memory = aps_memory_relay(element)};

    if (!scaled)
        plan.scale.kind = APS_SCALE_NONE;
    if (aps_format_parse(format, &plan.format, NULL) < 0)
        PMPI_Abort(MPI_COMM_WORLD, 2);
    plan_prepare(reductions, &plan);
    if (aps_reductions_run(reductions, &plan, 1, &vector, &cost) != MPI_SUCCESS)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    model_settle();
}

/* Prints a line of the table. Returns the error on rank 0. */
static double report(const char *name)
{
    const size_t bytes = COUNT * aps_element_types[element].bytes;
    struct aps_measure measure = {0};

    ok_all(same_on_all(out, bytes), "%s of %s: the same bits on all ranks",
           name, aps_element_types[element].name);
    if (mpitap_rank() != 0)
        return 0;
    aps_memory_relay(element)->copy_out(values, out, COUNT);
    aps_measure_add(&measure, exact, values, COUNT);
    printf("# %-6s %4d  %-14s %8.5f  %8.5f\n", aps_element_types[element].name,
           mpitap_size(), name, aps_measure_mean(&measure),
           aps_measure_l2(&measure));
    fflush(stdout);
    return aps_measure_l2(&measure);
}

static void measure(struct aps_reductions *reductions, const char *path)
{
    const char *format = aps_element_types[element].format;
    double mine[COUNT], native, once;

    gradients_read(path, mpitap_rank(), values, COUNT);
    aps_memory_relay(element)->copy_in(in, values, COUNT);
    aps_memory_relay(element)->copy_out(values, in, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        mine[i] = (double)values[i];
    PMPI_Reduce(mine, exact, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    sum_native();
    native = report("native");
    sum_in(reductions, format, false);
    once = report(format);
    ok_all(mpitap_size() <= 2 || once <= native,
           "format %s: no greater than the native error", format);
    sum_in(reductions, "e4m3", true);
    (void)report("e4m3, aps");
}

/* Contributions and the sum are rounded to FP32; additions are in FP64. Each rounding
 * alone has an L2 error of at most 2^-24. */
static void measure_double(struct aps_reductions *reductions, const char *path)
{
    double error;

    gradients_read(path, mpitap_rank(), values, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        in[i] = values[i] / 3.0;
    PMPI_Reduce(in, exact, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    sum_in(reductions, "e8m23", false);
    error = report("e8m23");
    ok_all(error < 0x1p-24, "double, e8m23: additions do not round, L2 %.2g",
           error);
}

int main(int argc, char **argv)
{
    struct aps_reductions *reductions;
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    if (argc < 2)
        PMPI_Abort(MPI_COMM_WORLD, 2);
    reductions = plan_begin();
    if (mpitap_rank() == 0)
        printf("# %-6s %4s  %-14s %8s  %8s\n", "type", "ranks", "sum", "error",
               "L2");
    for (element = APS_ELEMENT_BF16; element <= APS_ELEMENT_FP16; element++)
        measure(reductions, argv[1]);
    element = APS_ELEMENT_DOUBLE;
    measure_double(reductions, argv[1]);
    plan_end(reductions);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}
