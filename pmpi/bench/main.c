/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Program apsmpi-bench, which `apsmpi bench` starts (apsmpi(1)): compares MPI_Allreduce
 * of floats in every format with native MPI, in one run. A plain MPI program: native
 * calls use PMPI_Allreduce, calls that a preloaded library may rewrite use
 * MPI_Allreduce.
 *
 * The variants alternate in rounds, each round in another order, so that all see the
 * same drift of the machine. One timing is a barrier and then one call, or with
 * --steady as many calls as native FP32 makes in 0.3 ms; the slowest rank counts.
 *
 * Before a variant is measured its sum is compared with native FP32's, so that a broken
 * path cannot look fast. Too large an error ends the run with status 1.
 */
#include "config.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "bench/bench.h"
#include "bench/figures.h"
#include "bench/files.h"
#include "bench/meet.h"
#include "bench/policy.h"
#include "bench/rounds.h"
#include "bench/table.h"
#include "bench/variants.h"
#include "predict/measured.h"

#define PROGRAM "apsmpi: bench"

/* Fills with values like gradients: spread over many binades, both signs. */
static void fill(float *x, size_t n, int rank)
{
    uint32_t state = 12345 + 7919 * (uint32_t)rank;

    for (size_t i = 0; i < n; i++) {
        float product = 0x1p-7f;

        for (int j = 0; j < 3; j++) {
            state = state * 1664525u + 1013904223u;
            product *= (float)(int32_t)state * 0x1p-31f;
        }
        x[i] = product;
    }
}

static int count_hosts(int rank)
{
    MPI_Comm host;
    int on_host, hosts;

    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank,
                         MPI_INFO_NULL, &host);
    PMPI_Comm_rank(host, &on_host);
    PMPI_Comm_free(&host);
    hosts = on_host == 0;
    PMPI_Allreduce(MPI_IN_PLACE, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return hosts;
}

/* Returns the places of the tensors, which follow each other; the caller frees them. */
static struct aps_bench_piece *lay_out(const struct aps_bench_choice *c)
{
    struct aps_bench_piece *pieces =
        malloc((size_t)c->tensor_count * sizeof *pieces);
    size_t offset = 0;

    for (int i = 0; pieces && i < c->tensor_count; i++) {
        pieces[i] = (struct aps_bench_piece){offset, c->tensors[i]};
        offset += c->tensors[i] + APS_BENCH_EXTRA;
    }
    return pieces;
}

/* Returns the floats that the longest case takes. */
static size_t longest(const struct aps_bench_choice *c,
                      const struct aps_bench_piece *tensors)
{
    size_t most = c->size_count ? c->sizes[c->size_count - 1] : 0;

    if (tensors) {
        const struct aps_bench_piece *last = &tensors[c->tensor_count - 1];

        if (last->offset + last->count > most)
            most = last->offset + last->count;
    }
    return most + APS_BENCH_EXTRA;
}

/* COLLECTIVE. */
static void allocate(struct aps_bench *b, size_t most, bool good)
{
    b->send = malloc(most * sizeof *b->send);
    b->receive = malloc(most * sizeof *b->receive);
    b->reference = malloc(most * sizeof *b->reference);
    b->codes = calloc(most, sizeof *b->codes);
    b->half = calloc(most, sizeof *b->half);
    b->other = calloc((size_t)b->choice.cold + 1, 1 << 20);
    aps_meet_all_good(PROGRAM,
                      good && b->send && b->receive && b->reference &&
                          b->codes && b->half && b->other,
                      "out of memory");
}

/* COLLECTIVE. */
static void run_case(struct aps_bench *b, struct aps_bench_files *files,
                     const struct aps_bench_piece *pieces, int count)
{
    aps_bench_rounds_run(b, pieces, count);
    if (b->rank != 0)
        return;
    aps_bench_figures_take(b);
    aps_bench_table_case(b);
    aps_bench_files_case(files, b);
}

/* COLLECTIVE. */
static void run(struct aps_bench *b, struct aps_bench_files *files)
{
    const struct aps_bench_choice *c = &b->choice;
    struct aps_bench_piece *tensors = c->tensor_count ? lay_out(c) : NULL;
    const size_t most = longest(c, tensors);

    allocate(b, most, tensors || !c->tensor_count);
    if (c->recorded)
        aps_recorded_fill(&b->recorded, 0, b->send, most);
    else
        fill(b->send, most, b->rank);
    for (int i = 0; i < c->size_count; i++)
        run_case(b, files, &(struct aps_bench_piece){0, c->sizes[i]}, 1);
    if (tensors)
        run_case(b, files, tensors, c->tensor_count);
    free(tensors);
    free(b->send);
    free(b->receive);
    free(b->reference);
    free(b->codes);
    free(b->half);
    free(b->other);
}

/* Sets b->busy if native FP32's times disagreed by as much as makes measurements of
 * `apsmpi measure` useless. */
static void find_busy(struct aps_bench *b, struct aps_measured *measured)
{
    measured->spread = b->spread;
    b->busy = aps_measured_is_busy(measured);
}

static void warn_if_busy(const struct aps_bench *b,
                         const struct aps_measured *measured)
{
    char what[80], busy[240];

    if (!b->busy)
        return;
    snprintf(what, sizeof what, "native FP32, %zu floats", b->spread_count);
    aps_message(-1,
                "bench: the machines were busy: %s; do not rely on the "
                "figures, measure again on idle machines",
                aps_measured_busy(measured, what, busy, sizeof busy));
}

/* Rank 0 alone. Prints and writes what follows all cases. */
static void report(struct aps_bench *b, struct aps_bench_files *files)
{
    static struct aps_measured measured;

    find_busy(b, &measured);
    aps_bench_table_end(b);
    fflush(stdout);
    b->wrong |= !aps_bench_files_close(files, b);
    warn_if_busy(b, &measured);
}

int main(int argc, char **argv)
{
    static struct aps_bench b; /* too large for the stack */
    struct aps_bench_files files = {.json = {.stream = NULL}};
    char error[APS_BENCH_ERROR] = "";
    enum aps_bench_action action =
        aps_bench_choice_read(argc, argv, &b.choice, error);

    if (action == APS_BENCH_TEXT)
        return fflush(stdout) == 0 ? 0 : 1;
    if (action == APS_BENCH_RUN &&
        aps_bench_policy_publish(&b.choice, error) < 0)
        action = APS_BENCH_BAD;

    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    aps_meet_all_good(PROGRAM, action == APS_BENCH_RUN, error);
    aps_meet_all_good(PROGRAM, b.ranks > 1,
                      "a single rank sums nothing; start as many as training "
                      "has: mpiexec -n N apsmpi bench");
    b.hosts = count_hosts(b.rank);
    aps_meet_all_good(PROGRAM,
                      !b.choice.recorded ||
                          aps_recorded_open(b.choice.recorded, b.rank,
                                            &b.recorded, error,
                                            sizeof error) == 0,
                      error);
    aps_meet_all_good(
        PROGRAM, b.rank != 0 || aps_bench_files_open(&files, &b, error) == 0,
        error);
    aps_bench_variants_create(&b);
    if (b.rank == 0)
        aps_bench_table_begin(&b);
    run(&b, &files);
    if (b.rank == 0)
        report(&b, &files);
    aps_bench_variants_destroy(&b);
    aps_recorded_clear(&b.recorded);
    aps_bench_choice_clear(&b.choice);
    MPI_Finalize();
    return b.wrong;
}
