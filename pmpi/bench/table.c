/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/table.h"

#include <string.h>

#include "base/plural.h"
#include "base/print.h"
#include "bench/figures.h"

#define LABEL_MAX 48

/* True if the links, and not the copies, are the bound that the table shows. */
static bool shows_wire(const struct aps_bench *b)
{
    return b->choice.wire_gbit > 0 && b->hosts > 1;
}

/* Writes "25.6 Mi floats". Returns `text`. */
static char *size_text(size_t count, char *text, size_t size)
{
    if (count >= 1u << 20)
        aps_print(text, size, "%.4g Mi floats", (double)count / (1 << 20));
    else if (count >= 1u << 10)
        aps_print(text, size, "%.4g Ki floats", (double)count / (1 << 10));
    else
        snprintf(text, size, "%zu floats", count);
    return text;
}

/* Writes "e4m3 hierarchical". Returns `text`. */
static char *name_text(const struct aps_bench_variant *v, char *text,
                       size_t size)
{
    const bool native = strcmp(v->reduce, "native") == 0;

    snprintf(text, size, "%s%s%s", v->name, native ? "" : " ",
             native ? "" : v->reduce);
    return text;
}

static void print_figure(double figure, const char *format, int width)
{
    if (figure > 0)
        aps_fprint(stdout, format, figure);
    else
        printf("%*s", width, "-");
}

static void print_variant(const struct aps_bench *b,
                          const struct aps_bench_variant *v)
{
    const struct aps_bench_figures *f = &v->figures;
    char name[LABEL_MAX];

    printf("  %-19s", name_text(v, name, sizeof name));
    aps_fprint(stdout, " %10.1f %9.1f %9.1f %7.2f", 1e6 * f->median,
               1e6 * f->first_quartile, 1e6 * f->third_quartile, f->faster);
    print_figure(1e-9 * f->bus, "%7.2f", 7);
    print_figure(shows_wire(b) ? f->of_wire : f->of_copy, "%8.2f", 8);
    if (aps_bench_has_error(v))
        aps_fprint(stdout, "%10.2e", v->error);
    else
        printf("%10s", "-");
    printf("%s\n", v->error > v->limit      ? "  WRONG"
                   : aps_bench_is_passed(v) ? "  not rewritten"
                                            : "");
}

void aps_bench_table_begin(const struct aps_bench *b)
{
    printf("MPI_Allreduce of floats, MPI_SUM%s%s: %d rank%s on %d host%s",
           b->choice.in_place ? ", in place" : "",
           b->choice.steady     ? ", the same values"
           : b->choice.recorded ? ", recorded"
                                : "",
           b->ranks, aps_plural(b->ranks), b->hosts, aps_plural(b->hosts));
    if (b->choice.wire_gbit > 0)
        aps_fprint(stdout, ", links of %g Gbit/s", b->choice.wire_gbit);
    printf("\n"
           "us: median and quartiles of a call; faster: native FP32's median "
           "over it;\n"
           "GB/s: bus bandwidth of the FP32 values; %s;\n"
           "error: relative to native FP32's sum\n",
           shows_wire(b) ? "of wire: share of the links' rate"
                         : "of copy: memcpy's median over it");
    fflush(stdout);
}

void aps_bench_table_case(const struct aps_bench *b)
{
    char size[40];

    printf("\n%s", size_text(b->count, size, sizeof size));
    if (b->piece_count == 1)
        printf(" (%zu)", b->count);
    else
        printf(" in %d tensors, a call each", b->piece_count);
    printf("; %d rounds of %d\n", b->rounds, b->batch);
    printf("  %-19s %10s %9s %9s%8s%7s%8s%10s\n", "variant", "us", "q1", "q3",
           "faster", "GB/s", shows_wire(b) ? "of wire" : "of copy", "error");
    for (int i = 0; i < b->variant_count; i++)
        print_variant(b, &b->variants[i]);
    fflush(stdout);
}

static void print_min_count(const struct aps_bench_variant *v)
{
    char name[LABEL_MAX];

    name_text(v, name, sizeof name);
    if (aps_bench_is_passed(v))
        printf("# no min_count with %s: not rewritten\n", name);
    else if (v->min_count > 0)
        printf("min_count: %zu   # for this machine, with %s\n", v->min_count,
               name);
    else
        printf("# no min_count with %s: no gain at the largest size\n", name);
}

void aps_bench_table_end(const struct aps_bench *b)
{
    if (b->choice.size_count > 0 && b->choice.format_count > 0)
        printf("\n");
    if (b->busy && b->choice.size_count > 0)
        printf("# no min_count: the machines were busy\n");
    for (int i = 0;
         i < b->variant_count && b->choice.size_count > 0 && !b->busy; i++)
        if (b->variants[i].kind == APS_BENCH_OURS)
            print_min_count(&b->variants[i]);
    if (b->passed)
        printf("\nnot rewritten: the sum is FP32's. Native MPI was found "
               "faster, the library is not preloaded, or\na key of --rule "
               "excludes these calls.\n");
    if (b->wrong)
        printf("\nWRONG: further from native FP32's sum than the format "
               "explains\n");
}
