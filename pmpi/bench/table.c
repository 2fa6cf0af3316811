/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/table.h"

#include <stdlib.h>

#include "base/print.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the samples, whose first is the least from then on. */
static double median(struct bench *b, int i)
{
    double *samples = b->variants[i].samples;
    const int n = b->rounds;

    qsort(samples, (size_t)n, sizeof *samples, compare);
    return (samples[(n - 1) / 2] + samples[n / 2]) / 2;
}

/* Prints "25.6 Mi", with the exact number if it is rounded. */
static void print_size(size_t count)
{
    if (count >= 1u << 20)
        aps_fprint(stdout, "%.4g Mi", (double)count / (1 << 20));
    else if (count >= 1u << 10)
        aps_fprint(stdout, "%.4g Ki", (double)count / (1 << 10));
    else
        printf("%zu", count);
}

static void print_ratio(double ratio, const char *format)
{
    if (ratio > 0)
        aps_fprint(stdout, format, ratio);
    else
        printf("%8s", "-");
}

static void write_number(FILE *file, double number)
{
    if (number > 0)
        aps_fprint(file, ",%.6g", number);
    else
        fprintf(file, ",");
}

/* Returns the share of the wire's bound, or 0 if there is no wire or no rate. */
static double wire_share(const struct bench *b, size_t count, int width,
                         double seconds)
{
    double bits = (double)count * width * 2 * (b->hosts - 1) / b->hosts;

    if (b->choice.wire_gbit <= 0)
        return 0;
    return bits / seconds / (1e9 * b->choice.wire_gbit);
}

static void print_variant(const struct bench *b, const struct variant *v,
                          size_t count, double middle, double native,
                          double floor)
{
    const double up = native / middle;
    const double over = floor > 0 ? middle / floor : 0;
    const double share = wire_share(b, count, v->width, middle);
    const char *mark = v->kind == FLOOR        ? ""
                       : v->error > v->limit   ? "  WRONG"
                       : v->kind != OURS       ? ""
                       : v->rewritten          ? ""
                       : v->limit > SAME_ERROR ? "  not rewritten"
                                               : "";

    aps_fprint(stdout, "  %-10s %-14s %12.1f %12.1f", v->name, v->reduce,
               1e6 * middle, 1e6 * v->samples[0]);
    print_ratio(up, "%10.3f");
    print_ratio(over, "%8.3f");
    print_ratio(share, "%8.3f");
    if (v->kind == FLOOR)
        printf("%10s", "-");
    else
        aps_fprint(stdout, "%10.2e", v->error);
    printf("%s\n", mark);
    if (!b->csv)
        return;
    aps_fprint(b->csv, "%s,%s,%zu,%d,%.3f,%.3f,%.6g", v->name, v->reduce, count,
               b->ranks, 1e6 * middle, 1e6 * v->samples[0], up);
    write_number(b->csv, over);
    write_number(b->csv, share);
    fprintf(b->csv, ",%d,%d,%d", b->hosts, b->piece_count, b->rounds);
    if (v->kind == FLOOR)
        fprintf(b->csv, ",,");
    else
        aps_fprint(b->csv, ",%.3g,%s", v->error, v->rewritten ? "yes" : "no");
    write_number(b->csv, b->choice.wire_gbit);
    fprintf(b->csv, "\n");
}

void table_print_case(struct bench *b)
{
    double middle[VARIANTS_MAX];
    size_t count = 0;

    for (int p = 0; p < b->piece_count; p++)
        count += b->pieces[p].count;
    for (int i = 0; i < b->variant_count; i++)
        middle[i] = median(b, i);
    printf("\n");
    print_size(count);
    if (b->piece_count == 1)
        printf(" floats (%zu)", count);
    else
        printf(" floats in %d tensors, a call each", b->piece_count);
    printf("; %d rounds of %d\n", b->rounds, b->batch);
    printf("  %-10s %-14s %12s %12s %9s%8s%8s%10s\n", "variant", "reduce",
           "median us", "min us", "speed-up", "/floor", "wire", "error");
    for (int i = 0; i < b->variant_count; i++) {
        const struct variant *v = &b->variants[i];

        print_variant(b, v, count, middle[i], middle[v->native],
                      v->floor >= 0 ? middle[v->floor] : 0);
    }
    fflush(stdout);
    if (b->csv)
        fflush(b->csv);
}

void table_print_head(const struct bench *b)
{
    printf("MPI_Allreduce of floats, MPI_SUM%s%s: %d ranks on %d host%s",
           b->choice.in_place ? ", in place" : "",
           b->choice.steady     ? ", the same values"
           : b->choice.recorded ? ", recorded"
                                : "",
           b->ranks, b->hosts, b->hosts == 1 ? "" : "s");
    if (b->choice.wire_gbit > 0)
        aps_fprint(stdout, ", links of %g Gbit/s", b->choice.wire_gbit);
    printf("\n");
    fflush(stdout);
    if (b->csv)
        fprintf(b->csv, "variant,reduce,count,ranks,median_usec,min_usec,"
                        "ratio_native,ratio_floor,wire_share,hosts,calls,"
                        "rounds,error,rewritten,wire_gbit\n");
}

void table_print_foot(const struct bench *b)
{
    if (b->passed)
        printf("\nnot rewritten: the sum is FP32's. Native MPI was found "
               "faster, or the library is not preloaded,\nor APSMPI_POLICY "
               "does not name what `apsmpi-bench policy` prints with these "
               "options.\n");
    if (b->wrong)
        printf("\nWRONG: further from native FP32's sum than the format "
               "explains\n");
}
