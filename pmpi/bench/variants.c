/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/variants.h"

#include <math.h>
#include <string.h>

#include "base/message.h"
#include "bench/half.h"
#include "bench/policy.h"

static struct aps_bench_variant *add(struct aps_bench *b, const char *name,
                                     enum aps_bench_kind kind, int width,
                                     double limit)
{
    struct aps_bench_variant *v = &b->variants[b->variant_count++];

    snprintf(v->name, sizeof v->name, "%s", name);
    snprintf(v->reduce, sizeof v->reduce, "native");
    v->kind = kind;
    v->width = width;
    v->limit = limit;
    v->floor = -1;
    return v;
}

int aps_bench_variants_find(const struct aps_bench *b, enum aps_bench_kind kind,
                            int width)
{
    for (int i = 0; i < b->variant_count; i++)
        if (b->variants[i].kind == kind && b->variants[i].width == width)
            return i;
    return -1;
}

static void add_floor(struct aps_bench *b, int width)
{
    char name[24];

    if (!b->choice.rows[APS_BENCH_ROW_FLOOR] || width >= 32 ||
        aps_bench_variants_find(b, APS_BENCH_FLOOR, width) >= 0)
        return;
    snprintf(name, sizeof name, "int%d", width);
    add(b, name, APS_BENCH_FLOOR, width, INFINITY);
}

/* Returns the error of two roundings of a value in the middle of its binade,
 * with a margin. If all sums are zero the error is 1. */
static double error_limit(int mantissa)
{
    return fmin(0.75, 1.5 * ldexp(1, -mantissa));
}

/* Adds native FP32 once more, what no rule matches, and a few more elements, which are
 * compared with native FP32 of the same number. */
static void add_passed(struct aps_bench *b)
{
    const int extra = aps_bench_policy_bypassed(&b->choice);
    struct aps_bench_variant *v;

    add(b, "fp32 again", APS_BENCH_NATIVE, 32, 1e-5);
    add(b, "unmatched", APS_BENCH_PASSED, 32, 1e-5);
    add(b, "fp32 of it", APS_BENCH_NATIVE, 32, 1e-5)->extra = extra;
    v = add(b, "bypassed", APS_BENCH_PASSED, 32, 1e-5);
    v->extra = extra;
    v->native = b->variant_count - 2;
}

/* COLLECTIVE. Adds the sum of a 16-bit type of MPI's own. The library is not blamed
 * for its errors. */
static void add_typed(struct aps_bench *b, const char *name)
{
    const MPI_Datatype type = aps_half_native(name);
    struct aps_bench_variant *v;
    char label[24];

    if (type == MPI_DATATYPE_NULL) {
        if (b->rank == 0)
            aps_message(-1,
                        "bench: no row MPI %s: this MPI has no type for it "
                        "that it can sum",
                        name);
        return;
    }
    snprintf(label, sizeof label, "MPI %s", name);
    v = add(b, label, APS_BENCH_TYPED, 16, INFINITY);
    v->type = type;
    v->format = aps_format_get(name, NULL);
}

static void add_half(struct aps_bench *b)
{
    struct aps_bench_variant *v =
        add(b, "fp16 op", APS_BENCH_HALF, 16, error_limit(10));

    aps_half_create(&v->type, &b->half_sum);
    v->format = aps_format_get("fp16", NULL);
}

static void add_ours(struct aps_bench *b)
{
    const struct aps_bench_choice *c = &b->choice;

    for (int r = 0; r < c->reduce_count; r++)
        for (int f = 0; f < c->format_count; f++) {
            struct aps_bench_variant *v =
                add(b, c->formats[f].name, APS_BENCH_OURS, c->formats[f].width,
                    error_limit(c->formats[f].mantissa));

            strcpy(v->reduce, c->reduces[r]);
            v->extra = aps_bench_policy_extra(c, f, r);
        }
}

void aps_bench_variants_create(struct aps_bench *b)
{
    const struct aps_bench_choice *c = &b->choice;

    add(b, "fp32", APS_BENCH_NATIVE, 32, 1e-5);
    if (c->rows[APS_BENCH_ROW_PASS])
        add_passed(b);
    if (c->rows[APS_BENCH_ROW_TYPES]) {
        add_typed(b, "bf16");
        add_typed(b, "fp16");
    }
    if (c->rows[APS_BENCH_ROW_HALF])
        add_floor(b, 16);
    for (int f = 0; f < c->format_count; f++)
        add_floor(b, c->formats[f].width);
    if (c->rows[APS_BENCH_ROW_COPY])
        add(b, "memcpy", APS_BENCH_COPY, 0, INFINITY);
    if (c->rows[APS_BENCH_ROW_HALF])
        add_half(b);
    add_ours(b);
    for (int i = 0; i < b->variant_count; i++)
        if (b->variants[i].kind >= APS_BENCH_TYPED)
            b->variants[i].floor = aps_bench_variants_find(
                b, APS_BENCH_FLOOR, b->variants[i].width);
}

void aps_bench_variants_destroy(struct aps_bench *b)
{
    const int half = aps_bench_variants_find(b, APS_BENCH_HALF, 16);

    if (half >= 0)
        aps_half_destroy(&b->variants[half].type, &b->half_sum);
}

/* --- one call ------------------------------------------------------------- */

void aps_bench_variant_prepare(const struct aps_bench *b,
                               const struct aps_bench_variant *v)
{
    if (v->kind != APS_BENCH_TYPED)
        return;
    for (int p = 0; p < b->piece_count; p++)
        aps_half_encode(
            v->format, b->send + b->pieces[p].offset, b->pieces[p].count,
            (b->choice.in_place ? b->half : b->codes) + b->pieces[p].offset);
}

void aps_bench_variant_finish(const struct aps_bench *b,
                              const struct aps_bench_variant *v)
{
    if (v->kind != APS_BENCH_TYPED)
        return;
    for (int p = 0; p < b->piece_count; p++)
        aps_half_decode(v->format, b->half + b->pieces[p].offset,
                        b->pieces[p].count, b->receive + b->pieces[p].offset);
}

static void call_floor(const void *from, void *receive, size_t n, int width)
{
    if (width == 16)
        PMPI_Allreduce(from, receive, (int)n, MPI_SHORT, MPI_SUM,
                       MPI_COMM_WORLD);
    else
        PMPI_Allreduce(from, receive, (int)((n * (size_t)width + 7) / 8),
                       MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
}

void aps_bench_variant_call(const struct aps_bench *b,
                            const struct aps_bench_variant *v,
                            const struct aps_bench_piece *piece)
{
    const bool in_place = b->choice.in_place;
    const float *send = b->send + piece->offset;
    float *receive = b->receive + piece->offset;
    uint16_t *half = b->half + piece->offset;
    const int n = (int)piece->count;
    const void *from = in_place ? MPI_IN_PLACE : (const void *)send;

    switch (v->kind) {
    case APS_BENCH_NATIVE:
        PMPI_Allreduce(from, receive, n + v->extra, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD);
        break;
    case APS_BENCH_PASSED:
    case APS_BENCH_OURS:
        MPI_Allreduce(from, receive, n + v->extra, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
        break;
    case APS_BENCH_FLOOR:
        call_floor(from, receive, piece->count, v->width);
        break;
    case APS_BENCH_TYPED:
        PMPI_Allreduce(in_place ? MPI_IN_PLACE
                                : (const void *)(b->codes + piece->offset),
                       half, n, v->type, MPI_SUM, MPI_COMM_WORLD);
        break;
    case APS_BENCH_HALF:
        aps_half_encode(v->format, in_place ? receive : send, piece->count,
                        half);
        PMPI_Allreduce(MPI_IN_PLACE, half, n, v->type, b->half_sum,
                       MPI_COMM_WORLD);
        aps_half_decode(v->format, half, piece->count, receive);
        break;
    case APS_BENCH_COPY:
        memcpy(receive, send, piece->count * sizeof *receive);
        break;
    }
}
