/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

/* Elements whose reference takes long. */
#define LONG_COUNT 10000

const char *const fill_names[FILLS] = {[FILL_GRADIENTS] = "gradients",
                                       [FILL_WIDE] = "wide",
                                       [FILL_SUBNORMAL] = "subnormal",
                                       [FILL_HUGE] = "huge",
                                       [FILL_ZERO] = "zero"};

const char *const how_names[HOWS] = {
    [HOW_PLAIN] = "plain",      [HOW_IN_PLACE] = "in place",
    [HOW_MIXED] = "mixed",      [HOW_LARGE] = "MPI_Allreduce_c",
    [HOW_FORTRAN] = "MPI_REAL", [HOW_REAL4] = "MPI_REAL4 in place"};

void calls_print_policy(FILE *stream, size_t n, const struct call calls[])
{
    fprintf(stream, "version: 1\nmin_count: 1\nsteps: {calls: %zu}\nrules:\n",
            n);
    for (size_t first = 0, next; first < n; first = next) {
        next = first + 1;
        while (next < n && way_equals(&calls[next].way, &calls[first].way))
            next++;
        way_print_rule(stream, &calls[first].way, (long)first, (long)next - 1);
    }
}

/* splitmix64 */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static float from_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A float of random sign and mantissa, with an exponent field of [low, high].
 */
static float random_float(uint64_t random, uint32_t low, uint32_t high)
{
    uint32_t field = low + (uint32_t)(random >> 40) % (high - low + 1);

    return from_bits(((uint32_t)random & 0x807fffffu) | field << 23);
}

static float one_of(enum fill kind, uint64_t random, size_t i)
{
    uint32_t drift;

    switch (kind) {
    case FILL_WIDE:
        if (i % 16 == 5)
            return random & 1 ? 0.0f : -0.0f;
        return random_float(random, 0, 227);
    case FILL_SUBNORMAL:
        return random_float(random, 0, 0);
    case FILL_HUGE:
        return random_float(random, i % 2 ? 250 : 0, 254);
    case FILL_ZERO:
        return i % 3 == 0 || random & 1 ? -0.0f : 0.0f;
    default:
        /* 2^-10 to 2; chunks of long vectors differ in their greatest value. */
        drift = (uint32_t)((i + 1000) / 7000 % 15);
        return random_float(random, 117 - drift, 127 - drift);
    }
}

void fill(enum fill kind, uint64_t seed, int rank, size_t n, float *x)
{
    const uint64_t start = mix(mix(seed) + (uint64_t)rank);

    for (size_t i = 0; i < n; i++)
        x[i] = one_of(kind, mix(start + i), i);
}

int call_make(const struct call *call, const float *in, float *out)
{
    const bool in_place = call->how == HOW_IN_PLACE || call->how == HOW_REAL4 ||
                          (call->how == HOW_MIXED && mpitap_rank() % 2 == 1);
    const void *send = in_place ? MPI_IN_PLACE : in;
    MPI_Datatype type = MPI_FLOAT;

    if (in_place)
        memcpy(out, in, call->count * sizeof *out);
    if (call->how == HOW_FORTRAN && MPI_REAL != MPI_DATATYPE_NULL)
        type = MPI_REAL;
    if (call->how == HOW_REAL4 && MPI_REAL4 != MPI_DATATYPE_NULL)
        type = MPI_REAL4;
#ifdef HAVE_PMPI_ALLREDUCE_C
    if (call->how == HOW_LARGE)
        return MPI_Allreduce_c(send, out, (MPI_Count)call->count, type, MPI_SUM,
                               MPI_COMM_WORLD);
#endif
    return MPI_Allreduce(send, out, (int)call->count, type, MPI_SUM,
                         MPI_COMM_WORLD);
}

/* Checks one call against the reference, which only rank 0 computes. */
static bool check_call(const struct call *call, uint64_t seed,
                       reference_fn reference, float *in[], float *out,
                       float *expected)
{
    const size_t n = call->count;
    const int rank = mpitap_rank();
    char name[128];
    float *before = in[1];
    bool good;
    size_t i;

    fill(call->fill, seed, rank, n, in[0]);
    memcpy(before, in[0], n * sizeof *before);
    memset(out, 0x5a, n * sizeof *out);
    good = call_make(call, in[0], out) == MPI_SUCCESS;
    good = good && memcmp(before, in[0], n * sizeof *before) == 0;
    way_name(&call->way, name, sizeof name);
    if (!good)
        diag("rank %d: %s: the call failed or wrote to its input", rank, name);
    if (!same_on_all(out, n * sizeof *out)) {
        good = false;
        diag("rank %d: %s, %zu %s: results differ between ranks", rank, name, n,
             fill_names[call->fill]);
    }
    if (rank != 0)
        return good;
    for (int r = 1; r < mpitap_size(); r++)
        fill(call->fill, seed, r, n, in[r]);
    reference(&call->way, mpitap_size(), n, in, expected);
    i = first_difference(n, expected, out);
    if (i == n)
        return good;
    diag("%s: %zu %s, %s: element %zu is %a, expected %a", name, n,
         fill_names[call->fill], how_names[call->how], i, out[i], expected[i]);
    return false;
}

void calls_run(size_t n, const struct call calls[], reference_fn reference)
{
    /* Rank 0 fills the inputs of all ranks; each rank keeps its own inputs twice. */
    const int arrays =
        mpitap_rank() == 0 && mpitap_size() > 2 ? mpitap_size() : 2;
    float *in[RANKS_MAX];
    float *out, *expected;
    unsigned long rewritten = 0;
    size_t longest = 0;
    bool good = true;
    char name[128];

    for (size_t i = 0; i < n; i++)
        if (calls[i].count > longest)
            longest = calls[i].count;
    for (int r = 0; r < arrays; r++)
        in[r] = malloc(longest * sizeof *in[r] + 1);
    out = malloc(longest * sizeof *out + 1);
    expected = malloc(longest * sizeof *expected + 1);
    for (size_t i = 0; i < n; i++) {
        good &= check_call(&calls[i], i, reference, in, out, expected);
        /* The other ranks sleep while rank 0 computes. */
        if (calls[i].count > LONG_COUNT)
            meet();
        rewritten += calls[i].count > 0 && mpitap_size() > 1;
        if (i + 1 < n && way_equals(&calls[i].way, &calls[i + 1].way))
            continue;
        ok_all(good, "%s", way_name(&calls[i].way, name, sizeof name));
        good = true;
    }
    for (int r = 0; r < arrays; r++)
        free(in[r]);
    free(out);
    free(expected);
    expect_rewritten(rewritten);
}
