/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contributions of the ranks, and the expected results.
 */
#include <math.h>
#include <string.h>

#include "task.h"

size_t base_size(enum base base)
{
    static const size_t sizes[] = {sizeof(float), sizeof(double), sizeof(int),
                                   sizeof(uint16_t), sizeof(uint16_t)};

    return sizes[base];
}

/* --- numbers of 16 bits ----------------------------------------------------- */

static float get_16(enum base base, const void *x, size_t i)
{
    uint32_t bits = (uint32_t)((const uint16_t *)x)[i] << 16;
    float value;

    if (base == BASE_FP16)
        return (float)((const _Float16 *)x)[i];
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void set_16(enum base base, void *x, size_t i, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    if (base == BASE_FP16)
        ((_Float16 *)x)[i] = (_Float16)value;
    else if (value != value)
        ((uint16_t *)x)[i] = 0x7fc0;
    else
        ((uint16_t *)x)[i] =
            (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void add_16(enum base base, const void *in, void *sum, int n)
{
    for (size_t i = 0; i < (size_t)n; i++)
        set_16(base, sum, i, get_16(base, in, i) + get_16(base, sum, i));
}

static void add_bf16(void *in, void *sum, int *n, MPI_Datatype *type)
{
    (void)type;
    add_16(BASE_BF16, in, sum, *n);
}

static void add_fp16(void *in, void *sum, int *n, MPI_Datatype *type)
{
    (void)type;
    add_16(BASE_FP16, in, sum, *n);
}

void sums_make(struct sums *sums)
{
    MPI_Type_contiguous(2, MPI_BYTE, &sums->type);
    MPI_Type_commit(&sums->type);
    MPI_Op_create(add_bf16, 1, &sums->bf16);
    MPI_Op_create(add_fp16, 1, &sums->fp16);
}

void sums_free(struct sums *sums)
{
    MPI_Type_free(&sums->type);
    MPI_Op_free(&sums->bf16);
    MPI_Op_free(&sums->fp16);
}

/* --- values ----------------------------------------------------------------- */

/* Returns sixteenths of a power of two: their sums over eight ranks are exact
 * in FP32 and fp16, in any order, and those of bf16 in bf16. `any`: floats whose sums
 * are not. */
static double value_of(const struct op *op, int rank, size_t i)
{
    const uint64_t word = mix(op->key + mix((uint64_t)i * 64 + (uint64_t)rank));
    const int sixteenths = (int)(word % 257) - 128;

    if (op->base == BASE_INT)
        return sixteenths;
    if (op->base == BASE_BF16)
        return ldexp(sixteenths / 8, op->exponent - 1);
    if (op->any)
        return (float)ldexp((double)(int32_t)(uint32_t)word,
                            (int)(word >> 60) - 36);
    return ldexp(sixteenths, op->exponent - 4);
}

void op_fill(const struct op *op, int rank, char *buffer, size_t first,
             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double value = value_of(op, rank, first + i);

        if (op->base == BASE_FLOAT)
            ((float *)(void *)buffer)[i] = (float)value;
        else if (op->base == BASE_DOUBLE)
            ((double *)(void *)buffer)[i] = value;
        else if (op->base == BASE_INT)
            ((int *)(void *)buffer)[i] = (int)value;
        else
            set_16(op->base, buffer, i, (float)value);
    }
}

/* Returns element i of the vector that is reduced; *magnitude: of all contributions. */
static double expected(const struct op *op, size_t i, double *magnitude)
{
    double total = value_of(op, op->comm.members[0], i);

    *magnitude = fabs(total);
    for (int r = 1; r < op->comm.size; r++) {
        const double value = value_of(op, op->comm.members[r], i);

        *magnitude += fabs(value);
        if (op->operation == MAX)
            total = value > total ? value : total;
        else if (op->operation == MIN)
            total = value < total ? value : total;
        else if (op->any)
            total = (double)((float)total + (float)value);
        else
            total += value;
    }
    return total;
}

/* Returns the tolerance of an element, in units of its contributions' magnitude. */
static double tolerance(const struct task *task, const struct op *op)
{
    const struct setup *setup = task->setup;

    if (setup->exact || !(setup->elements >> op->base & 1) ||
        (op->operation != SUM && op->kind != ALLGATHER && op->kind != BCAST) ||
        op->total < (size_t)setup->min_count || op->comm.size == 1)
        return 0;
    return 2 * (op->comm.size + 3) * ldexp(1, -setup->mantissa) +
           (op->base == BASE_BF16 ? ldexp(1, -8) : 0);
}

static double element(const struct op *op, size_t i)
{
    const void *x = op->receive;

    if (op->base == BASE_FLOAT)
        return (double)((const float *)x)[i];
    if (op->base == BASE_DOUBLE)
        return ((const double *)x)[i];
    return op->base == BASE_INT ? ((const int *)x)[i]
                                : (double)get_16(op->base, x, i);
}

static double expected_result(const struct op *op, size_t i, double *magnitude)
{
    size_t first = 0;

    if (op->kind == ALLGATHER) {
        const int rank = op->comm.members[i / (size_t)op->count];
        const double value = value_of(op, rank, i % (size_t)op->count);

        *magnitude = fabs(value);
        return value;
    }
    if (op->kind == BCAST) {
        const double value = value_of(op, op->comm.members[op->root], i);

        *magnitude = fabs(value);
        return value;
    }
    if (op->kind == REDUCE_SCATTER_BLOCK)
        first = (size_t)op->me * (size_t)op->count;
    if (op->kind == REDUCE_SCATTER)
        for (int r = 0; r < op->me; r++)
            first += (size_t)op->counts[r];
    return expected(op, first + i, magnitude);
}

void op_check(struct task *task, const struct op *op)
{
    const double share = tolerance(task, op);

    for (size_t i = 0; i < op->result; i++) {
        double magnitude;
        const double is = element(op, i);
        const double should = expected_result(op, i, &magnitude);

        if (fabs(is - should) <= share * magnitude)
            continue;
        wrong(task, "%s: element %zu is %.9g, expected %.9g +- %.3g",
              op_text(op), i, is, should, share * magnitude);
        return;
    }
}
