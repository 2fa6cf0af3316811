/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of other types than FP32: each call is made once with elements of a type and
 * once with the same values in FP32, and gives the FP32 result, rounded once to the
 * type.
 * With the argument `own` the program brings its own operations and types of two bytes,
 * which the policy may probe; with `double` it sums doubles alone, with `fp64` it
 * compares their sums with those in FP64.
 * With `mixed` its operation adds on some ranks alone; with `reused` an operation has
 * the handle of a freed one.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 5003 /* not a multiple of a granule or of the ranks */
#define ROUNDS 3

/* --- types ------------------------------------------------------------------ */

static void bf16_set(void *x, size_t i, float value)
{
    uint32_t bits;
    uint16_t *codes = x;

    memcpy(&bits, &value, sizeof bits);
    codes[i] =
        (uint16_t)(value != value ? 0x7fc0
                                  : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float bf16_get(const void *x, size_t i)
{
    const uint32_t bits = (uint32_t)((const uint16_t *)x)[i] << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static void fp16_set(void *x, size_t i, float value)
{
    ((_Float16 *)x)[i] = (_Float16)value;
}

static float fp16_get(const void *x, size_t i)
{
    return (float)((const _Float16 *)x)[i];
}

static void double_set(void *x, size_t i, float value)
{
    ((double *)x)[i] = value;
}

static float double_get(const void *x, size_t i)
{
    return (float)((const double *)x)[i];
}

static struct type {
    const char *name;
    size_t bytes;
    void (*set)(void *x, size_t i, float value);
    float (*get)(const void *x, size_t i);
    MPI_Datatype mpi; /* MPI_DATATYPE_NULL: the MPI has none */
    MPI_Op op;
} types[] = {
    {.name = "bf16", .bytes = 2, .set = bf16_set, .get = bf16_get},
    {.name = "fp16", .bytes = 2, .set = fp16_set, .get = fp16_get},
    {.name = "double", .bytes = 8, .set = double_set, .get = double_get},
};
#define TYPES (sizeof types / sizeof *types)

/* --- operations of the program ---------------------------------------------- */

static void add(const struct type *type, const void *in, void *sum, int n)
{
    for (int i = 0; i < n; i++)
        type->set(sum, (size_t)i,
                  type->get(in, (size_t)i) + type->get(sum, (size_t)i));
}

static void add_bf16(void *in, void *sum, int *n, MPI_Datatype *type)
{
    (void)type;
    add(&types[0], in, sum, *n);
}

static void add_fp16(void *in, void *sum, int *n, MPI_Datatype *type)
{
    (void)type;
    add(&types[1], in, sum, *n);
}

/* No sum: MPI's, whatever the policy says. */
static void greatest(void *in, void *result, int *n, MPI_Datatype *type)
{
    const uint16_t *a = in;
    uint16_t *b = result;

    (void)type;
    for (int i = 0; i < *n; i++)
        b[i] = a[i] > b[i] ? a[i] : b[i];
}

static MPI_Datatype two_bytes(void)
{
    MPI_Datatype type;

    MPI_Type_contiguous(2, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void make_types(bool own, bool doubles)
{
    for (size_t i = 0; i < TYPES; i++) {
        types[i].mpi = MPI_DATATYPE_NULL;
        types[i].op = MPI_SUM;
    }
    if (own) {
        types[0].mpi = types[1].mpi = two_bytes();
        MPI_Op_create(add_bf16, 1, &types[0].op);
        MPI_Op_create(add_fp16, 1, &types[1].op);
        return;
    }
    types[2].mpi = MPI_DOUBLE;
    if (doubles)
        return;
#ifdef MPIX_BFLOAT16
    types[0].mpi = MPIX_BFLOAT16;
#endif
#ifdef MPIX_C_FLOAT16
    types[1].mpi = MPIX_C_FLOAT16;
#endif
}

/* --- calls ------------------------------------------------------------------ */

static int rank, size;
static const struct type plain = {.bytes = 4, .mpi = MPI_FLOAT, .op = MPI_SUM};

enum how { ALLREDUCE, IN_PLACE, LATER, REDUCE, SCATTER, GATHER, BCAST, HOWS };
static const char *const how_names[HOWS] = {
    "MPI_Allreduce",  "in place",      "MPI_Iallreduce", "MPI_Reduce",
    "reduce-scatter", "MPI_Allgather", "MPI_Bcast"};

/* Makes a call with in[COUNT], whose result is out[COUNT]. Returns the number of
 * elements of the result on this rank. */
static size_t make(enum how how, const struct type *type, const void *in,
                   void *out)
{
    const MPI_Comm comm = MPI_COMM_WORLD;
    const int share = COUNT / size;
    MPI_Request request;

    switch (how) {
    case ALLREDUCE:
        MPI_Allreduce(in, out, COUNT, type->mpi, type->op, comm);
        return COUNT;
    case IN_PLACE:
        memcpy(out, in, COUNT * type->bytes);
        MPI_Allreduce(MPI_IN_PLACE, out, COUNT, type->mpi, type->op, comm);
        return COUNT;
    case LATER:
        MPI_Iallreduce(in, out, COUNT, type->mpi, type->op, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return COUNT;
    case REDUCE:
        MPI_Reduce(in, out, COUNT, type->mpi, type->op, size - 1, comm);
        return rank == size - 1 ? COUNT : 0;
    case SCATTER:
        MPI_Reduce_scatter_block(in, out, share, type->mpi, type->op, comm);
        return (size_t)share;
    case GATHER:
        MPI_Allgather(in, share, type->mpi, out, share, type->mpi, comm);
        return (size_t)(share * size);
    default:
        memcpy(out, in, COUNT * type->bytes);
        MPI_Bcast(out, COUNT, type->mpi, 1, comm);
        return COUNT;
    }
}

/* Gradients of this rank, exactly those of the type; some of them special. */
static void fill(const struct type *type, int round, void *x, float *values)
{
    for (size_t i = 0; i < COUNT; i++) {
        const int k = (int)(i * 37 + (size_t)(rank * 11 + round * 101)) % 509;
        float value = (float)(k - 254) / (float)(1 << (i % 11));

        if (i % 997 == 3)
            value = rank == 0 ? 60000.0f : 30000.0f; /* beyond fp16 */
        if (i == 1000 && rank == 0)
            value = 1e30f * 1e30f; /* INF */
        if (i == 2000 && rank == size - 1)
            value = 1e30f * 1e30f * 0; /* NaN */
        type->set(x, i, value);
        values[i] = type->get(x, i);
    }
}

static void test(const struct type *type, enum how how)
{
    static double in[COUNT], out[COUNT], wanted[COUNT];
    static float values[COUNT], sums[COUNT];
    bool right = true;

    for (int round = 0; round < ROUNDS; round++) {
        size_t n;

        fill(type, round, in, values);
        make(how, type, in, out);
        n = make(how, &plain, values, sums);
        for (size_t i = 0; i < n; i++) {
            const bool nan = sums[i] != sums[i];

            type->set(wanted, i, sums[i]);
            right &= nan ? type->get(out, i) != type->get(out, i)
                         : memcmp((char *)out + i * type->bytes,
                                  (char *)wanted + i * type->bytes,
                                  type->bytes) == 0;
        }
    }
    ok_all(right, "%s, %s: the sum in FP32, rounded once", type->name,
           how_names[how]);
}

/* Contributions with all bits of FP32, of many binades; equal values cancel, and some
 * are NaN of both signs. */
static float contribution(int of, int round, size_t i)
{
    uint32_t bits = (uint32_t)(i / 2 * 2654435761u) + (uint32_t)(of * 40503);

    if (i % 1009 == 7)
        return of == 0 ? NAN : -NAN;
    for (int turn = 0; turn < 3; turn++)
        bits = (bits ^ bits >> 15) * 0x2c1b3c6du + (uint32_t)round;
    return (i % 2 > 0 && of % 2 > 0 ? -1.0f : 1.0f) * (float)(bits >> 8 | 1) /
           (float)(1 << (bits & 15));
}

/* For the format e8m23: ranks of one node add FP32 values in FP64, in rank order. */
static void test_fp64(enum how how)
{
    static double in[COUNT], out[COUNT];
    const size_t first = how == SCATTER ? (size_t)rank * (COUNT / size) : 0;
    const double canonical = NAN;
    size_t wrong = 0;

    for (int round = 0; round < ROUNDS; round++) {
        size_t n, as_fp32 = 0;

        for (size_t i = 0; i < COUNT; i++)
            in[i] = contribution(rank, round, i);
        n = make(how, &types[2], in, out);
        for (size_t i = 0; i < n; i++) {
            float alone = -0.0f;
            double sum = -0.0;

            for (int k = 0; k < size; k++) {
                sum += contribution(k, round, first + i);
                alone += contribution(k, round, first + i);
            }
            wrong += isnan(sum) ? memcmp(&out[i], &canonical, sizeof *out) != 0
                                : out[i] != (float)sum;
            as_fp32 += isnan(sum) || (float)sum == alone;
        }
        wrong += n > 0 && as_fp32 == n; /* FP32 would do */
    }
    ok_all(wrong == 0, "double, %s: the sum in FP64, rounded to FP32",
           how_names[how]);
}

static void test_greatest(void)
{
    uint16_t in[COUNT], out[COUNT];
    MPI_Datatype type = two_bytes();
    bool right = true;
    MPI_Op op;

    MPI_Op_create(greatest, 1, &op);
    for (size_t i = 0; i < COUNT; i++)
        in[i] = (uint16_t)(i + (size_t)rank);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Request request = MPI_REQUEST_NULL;

        memset(out, 0, sizeof out);
        if (turn == 0)
            MPI_Allreduce(in, out, COUNT, type, op, MPI_COMM_WORLD);
        else
            MPI_Iallreduce(in, out, COUNT, type, op, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (size_t i = 0; i < COUNT; i++)
            right &= out[i] == i + (size_t)size - 1;
    }
    ok_all(right, "MPI carries out an operation that does not add");
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* An operation that adds on some ranks alone ends the job. */
static void make_mixed(void)
{
    static uint16_t in[COUNT], out[COUNT];
    MPI_Request request;
    MPI_Op op;

    MPI_Op_create(rank == 0 ? greatest : add_fp16, 1, &op);
    MPI_Iallreduce(in, out, COUNT, two_bytes(), op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Sums by two operations, one after another: MPI carries out the first one, which does
 * not commute. */
static void test_reused(void)
{
    static uint16_t in[COUNT], out[COUNT];
    struct type type = types[0];
    MPI_Op first;

    type.mpi = two_bytes();
    MPI_Op_create(add_bf16, 0, &type.op);
    first = type.op;
    make(ALLREDUCE, &type, in, out);
    MPI_Op_free(&type.op);
    MPI_Op_create(add_bf16, 1, &type.op);
    if (type.op != first)
        diag("the MPI gives the second operation another handle");
    test(&type, ALLREDUCE);
    MPI_Op_free(&type.op);
}

int main(int argc, char **argv)
{
    const bool own = argc > 1 && strcmp(argv[1], "own") == 0;
    const bool fp64 = argc > 1 && strcmp(argv[1], "fp64") == 0;
    const bool single = argc > 1 && strcmp(argv[1], "single") == 0;
    int level;

    MPI_Init_thread(&argc, &argv,
                    single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    rank = mpitap_rank();
    size = mpitap_size();
    if (argc > 1 && strcmp(argv[1], "mixed") == 0)
        make_mixed();
    make_types(own, fp64 || (argc > 1 && strcmp(argv[1], "double") == 0));
    for (int how = 0; fp64 && how < GATHER; how++)
        test_fp64((enum how)how);
    for (size_t i = 0; i < TYPES && !fp64; i++) {
        for (int how = 0; how < HOWS; how++) {
            /* Without threads MPI may have to carry out nonblocking calls. */
            if (types[i].mpi == MPI_DATATYPE_NULL || (single && how == LATER))
                continue;
            /* MPI has no datatype for them but bytes. */
            if (!own || (how != GATHER && how != BCAST))
                test(&types[i], (enum how)how);
        }
    }
    if (own)
        test_greatest();
    if (argc > 1 && strcmp(argv[1], "reused") == 0)
        test_reused();
    {
        const int status = mpitap_end();

        MPI_Finalize();
        return status;
    }
}
