/* SPDX-License-Identifier: BSD-3-Clause */
#include "other_collectives_calls.h"

#include "config.h"

#include <math.h>
#include <string.h>

#include "calls.h"
#include "mpitap.h"
#include "reference_blocks.h"
#include "rounding.h"

int rank, size;
unsigned long made[KINDS];
bool deferred;
float *in[RANKS_MAX];
float *out, *expected, *before, *whole;

/* --- references ---------------------------------------------------------- */

/* Elements of a message: `direct` has the same for every rank. */
static size_t part_length(const struct way *way)
{
    return way_chunk(way, size) / (size_t)size;
}

/* Cuts the shares of in[size][bounds[size]] into parts that are blocks; sum[]
 * gets them one after the other. */
static void reference_scatter(const struct way *way, const size_t bounds[],
                              float *sum)
{
    const float *const *inputs = (const float *const *)in;
    const int exponent = stage_exponent(way, size, inputs, bounds[size]);
    const size_t most = part_length(way);

    for (int i = 0; i < size; i++) {
        size_t length;

        for (size_t at = bounds[i]; at < bounds[i + 1]; at += length) {
            const float *parts[RANKS_MAX];

            length = bounds[i + 1] - at < most ? bounds[i + 1] - at : most;
            for (int r = 0; r < size; r++)
                parts[r] = in[r] + at;
            sum_blocks(way, exponent, size, parts, length, sum + at);
        }
    }
}

/* Cuts in[size][n] into blocks; aps has one exponent, of N = 1. */
static void reference_gather(const struct way *way, size_t n, float *gathered)
{
    const float *const all[] = {gathered};
    const size_t most = part_length(way);
    int exponent;

    for (int r = 0; r < size; r++)
        memcpy(gathered + (size_t)r * n, in[r], n * sizeof *gathered);
    exponent = stage_exponent(way, 1, all, (size_t)size * n);
    for (int r = 0; r < size; r++)
        for (size_t at = 0; at < n; at += most)
            send_block(way, exponent, n - at < most ? n - at : most, in[r] + at,
                       gathered + (size_t)r * n + at);
}

/* e8m23 without a scale has no roundings: the sum is computed without rounding.c. */
static bool sums_exactly(const struct way *way, size_t n, const float *sum)
{
    if (strcmp(way->format, "e8m23") != 0 || way->accumulate != ACCUMULATE_FP32)
        return true;
    for (size_t i = 0; i < n; i++) {
        float exact = in[0][i];

        for (int r = 1; r < size; r++)
            exact += in[r][i];
        if (!same_float(exact, sum[i]))
            return false;
    }
    return true;
}

/* --- inputs -------------------------------------------------------------- */

static void fill_rank(unsigned seed, int r, size_t n, float *x)
{
    const enum fill kind = (enum fill)(seed % FILLS);

    fill(kind, seed, r, n, x);
    /* A few values are not finite, on one rank each or on all ranks. */
    if (seed % 3 == 1 && n > 40) {
        if (r == 0)
            x[3] = INFINITY;
        if (r == size - 1)
            x[n / 2] = -INFINITY;
        if (r == size / 2)
            x[n - 1] = NAN;
        x[7] = r % 2 ? INFINITY : -INFINITY;
    }
}

void others_fill(unsigned seed, size_t n)
{
    for (int r = 0; r < size; r++)
        if (r == rank || rank == 0)
            fill_rank(seed, r, n, in[r]);
    memcpy(before, in[rank], n * sizeof *before);
}

/* How a call is made. */
struct manner {
    bool in_place;
    bool large;
    MPI_Datatype type;
};

static struct manner manner_of(unsigned seed)
{
    struct manner manner = {
        .in_place = seed % 4 == 1 || (seed % 4 == 2 && rank % 2),
        .large = seed % 3 == 0,
        .type = MPI_FLOAT,
    };

    if (seed % 5 == 3 && MPI_REAL != MPI_DATATYPE_NULL)
        manner.type = MPI_REAL;
    if (seed % 5 == 4 && MPI_REAL4 != MPI_DATATYPE_NULL)
        manner.type = MPI_REAL4;
#ifndef HAVE_PMPI_ALLREDUCE_C
    manner.large = false;
#endif
    return manner;
}

bool others_check(const char *what, unsigned seed, size_t n, const float *got,
                  const float *wanted)
{
    const size_t i = first_difference(n, wanted, got);

    if (i < n)
        diag("rank %d: %s %u: element %zu of %zu is %a, expected %a", rank,
             what, seed, i, n, got[i], wanted[i]);
    return i == n;
}

/* --- calls --------------------------------------------------------------- */

/* The nonblocking form, and what completes it. */
static int defer_scatter(const struct manner *manner, const void *send,
                         const int counts[], bool block)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request request;
    int rc;

#ifdef HAVE_PMPI_ALLREDUCE_C
    MPI_Count large[RANKS_MAX];

    for (int i = 0; i < size; i++)
        large[i] = counts[i];
    if (manner->large)
        rc = block ? MPI_Ireduce_scatter_block_c(send, out, large[0],
                                                 manner->type, MPI_SUM, comm,
                                                 &request)
                   : MPI_Ireduce_scatter_c(send, out, large, manner->type,
                                           MPI_SUM, comm, &request);
    else
#endif
        rc = block
                 ? MPI_Ireduce_scatter_block(send, out, counts[0], manner->type,
                                             MPI_SUM, comm, &request)
                 : MPI_Ireduce_scatter(send, out, counts, manner->type, MPI_SUM,
                                       comm, &request);
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

/* MPI_Reduce_scatter, or MPI_Reduce_scatter_block. */
static int make_scatter(const struct manner *manner, const size_t bounds[],
                        bool block, const float *x)
{
    const void *send = manner->in_place ? MPI_IN_PLACE : (const void *)x;
    MPI_Comm comm = MPI_COMM_WORLD;
    int counts[RANKS_MAX];

    for (int i = 0; i < size; i++)
        counts[i] = (int)(bounds[i + 1] - bounds[i]);
    if (deferred)
        return defer_scatter(manner, send, counts, block);
#ifdef HAVE_PMPI_ALLREDUCE_C
    if (manner->large) {
        MPI_Count large[RANKS_MAX];

        for (int i = 0; i < size; i++)
            large[i] = counts[i];
        return block ? MPI_Reduce_scatter_block_c(send, out, large[0],
                                                  manner->type, MPI_SUM, comm)
                     : MPI_Reduce_scatter_c(send, out, large, manner->type,
                                            MPI_SUM, comm);
    }
#endif
    return block ? MPI_Reduce_scatter_block(send, out, counts[0], manner->type,
                                            MPI_SUM, comm)
                 : MPI_Reduce_scatter(send, out, counts, manner->type, MPI_SUM,
                                      comm);
}

/* Sends each rank its part of rank 0's result. */
static void hand_out(const size_t bounds[], const float *all, float *own)
{
    int counts[RANKS_MAX], places[RANKS_MAX];

    for (int i = 0; i < size; i++) {
        counts[i] = (int)(bounds[i + 1] - bounds[i]);
        places[i] = (int)bounds[i];
    }
    meet(); /* the other ranks sleep while rank 0 computes */
    PMPI_Scatterv(all, counts, places, MPI_FLOAT, own, counts[rank], MPI_FLOAT,
                  0, MPI_COMM_WORLD);
}

bool others_scatter(const struct way *way, unsigned seed, const size_t bounds[],
                    bool block)
{
    const struct manner manner = manner_of(seed);
    const size_t n = bounds[size], own = bounds[rank + 1] - bounds[rank];
    bool good = true;

    others_fill(seed, n);
    memset(out, 0x5a, (n + 1) * sizeof *out);
    memcpy(whole, out, (n + 1) * sizeof *whole);
    if (manner.in_place)
        memcpy(out, in[rank], n * sizeof *out);
    good = make_scatter(&manner, bounds, block, in[rank]) == MPI_SUCCESS;
    made[block ? SCATTER_BLOCK : SCATTER]++;
    if (memcmp(before, in[rank], n * sizeof *before) != 0 ||
        (!manner.in_place &&
         memcmp(whole, out + own, (n + 1 - own) * sizeof *out) != 0)) {
        diag("rank %d: reduce_scatter %u wrote elsewhere", rank, seed);
        good = false;
    }
    if (rank == 0) {
        if (way->scale == SCALE_OWN)
            reference_blocks_scatter(way, size, bounds, in, whole);
        else
            reference_scatter(way, bounds, whole);
        good &= sums_exactly(way, n, whole);
    }
    hand_out(bounds, whole, expected);
    return others_check("reduce_scatter", seed, own, out, expected) && good;
}

static int make_gather(const struct manner *manner, const void *send, size_t n)
{
    const MPI_Datatype type = manner->type;
    MPI_Request request;
    int rc;

#ifdef HAVE_PMPI_ALLREDUCE_C
    if (deferred && manner->large)
        rc = MPI_Iallgather_c(send, (MPI_Count)n, type, out, (MPI_Count)n, type,
                              MPI_COMM_WORLD, &request);
    else
#endif
        if (deferred)
        rc = MPI_Iallgather(send, (int)n, type, out, (int)n, type,
                            MPI_COMM_WORLD, &request);
#ifdef HAVE_PMPI_ALLREDUCE_C
    else if (manner->large)
        return MPI_Allgather_c(send, (MPI_Count)n, type, out, (MPI_Count)n,
                               type, MPI_COMM_WORLD);
#endif
    else
        return MPI_Allgather(send, (int)n, type, out, (int)n, type,
                             MPI_COMM_WORLD);
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

bool others_gather(const struct way *way, unsigned seed, size_t n)
{
    const struct manner manner = manner_of(seed);
    const size_t all = (size_t)size * n;
    float *place = out + (size_t)rank * n;
    const void *send = in[rank];
    bool good;
    int rc;

    others_fill(seed, n);
    memset(out, 0x5a, (all + 1) * sizeof *out);
    if (manner.in_place) {
        memcpy(place, in[rank], n * sizeof *out);
        send = MPI_IN_PLACE;
    }
    rc = make_gather(&manner, send, n);
    made[GATHER]++;
    good =
        rc == MPI_SUCCESS && memcmp(before, in[rank], n * sizeof *before) == 0;
    if (!same_on_all(out, all * sizeof *out)) {
        diag("rank %d: allgather %u: results differ between ranks", rank, seed);
        good = false;
    }
    if (rank != 0)
        return good;
    if (way->scale == SCALE_OWN)
        reference_blocks_gather(way, size, n, in, expected);
    else
        reference_gather(way, n, expected);
    return others_check("allgather", seed, all, out, expected) && good;
}

static int make_rooted(const struct manner *manner, const void *send,
                       void *receive, size_t n, int root)
{
    MPI_Request request;

    if (deferred) {
        int rc;

#ifdef HAVE_PMPI_ALLREDUCE_C
        if (manner->large)
            rc = MPI_Ireduce_c(send, receive, (MPI_Count)n, manner->type,
                               MPI_SUM, root, MPI_COMM_WORLD, &request);
        else
#endif
            rc = MPI_Ireduce(send, receive, (int)n, manner->type, MPI_SUM, root,
                             MPI_COMM_WORLD, &request);
        return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
    }
#ifdef HAVE_PMPI_ALLREDUCE_C
    if (manner->large)
        return MPI_Reduce_c(send, receive, (MPI_Count)n, manner->type, MPI_SUM,
                            root, MPI_COMM_WORLD);
#endif
    return MPI_Reduce(send, receive, (int)n, manner->type, MPI_SUM, root,
                      MPI_COMM_WORLD);
}

bool others_reduce(const struct way *way, unsigned seed, size_t n, int root,
                   const float *sum)
{
    const struct manner manner = manner_of(seed);
    const bool ours = rank == root;
    /* On other ranks the buffer is not significant, and must not change. */
    void *receive = ours || seed % 2 ? out : NULL;
    size_t all[RANKS_MAX + 1];
    bool good;

    others_fill(seed, n);
    memset(out, 0x5a, (n + 1) * sizeof *out);
    memcpy(whole, out, (n + 1) * sizeof *whole);
    if (ours && manner.in_place)
        memcpy(out, in[rank], n * sizeof *out);
    good =
        make_rooted(&manner, ours && manner.in_place ? MPI_IN_PLACE : in[rank],
                    receive, n, root) == MPI_SUCCESS;
    made[ROOTED]++;
    if (memcmp(before, in[rank], n * sizeof *before) != 0 ||
        (!ours && memcmp(whole, out, n * sizeof *out) != 0)) {
        diag("rank %d: reduce %u wrote elsewhere", rank, seed);
        good = false;
    }
    if (sum)
        return (!ours ||
                others_check("reduce, all-reduce", seed, n, out, sum)) &&
               good;
    if (rank == 0) {
        if (way->scale == SCALE_OWN)
            reference_blocks(way, size, n, in, whole);
        else
            reference_reduce(way, size, n, in, whole);
        good &=
            strcmp(way->format, "e8m23") != 0 || sums_exactly(way, n, whole);
    }
    for (int i = 0; i <= size; i++)
        all[i] = i > root ? n : 0;
    hand_out(all, whole, expected);
    return (!ours || others_check("reduce", seed, n, out, expected)) && good;
}
