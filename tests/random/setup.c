/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task.h"

/* --- the policy ----------------------------------------------------------- */

static void write_text(struct setup *setup, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void write_text(struct setup *setup, const char *format, ...)
{
    const size_t used = strlen(setup->policy);
    va_list args;

    va_start(args, format);
    vsnprintf(setup->policy + used, sizeof setup->policy - used, format, args);
    va_end(args);
}

static const char *one_of(struct draw *draw, int count,
                          const char *const words[])
{
    return words[draw_below(draw, count)];
}

#define ONE_OF(draw, ...)                                                      \
    one_of((draw),                                                             \
           (int)(sizeof((const char *const[]){__VA_ARGS__}) /                  \
                 sizeof(const char *)),                                        \
           (const char *const[]){__VA_ARGS__})

/* Draws the reduction of a rule with a format other than fp32. */
static void draw_reduction(struct setup *setup, struct draw *draw,
                           const char **accumulate)
{
    const char *const reduce =
        ONE_OF(draw, "direct", "hierarchical", "hierarchical", "ring", "master",
               "gather", "auto", "");
    const bool grouped =
        !*reduce || *reduce == 'h' || *reduce == 'm' || *reduce == 'a';

    if (*reduce)
        write_text(setup, ", reduce: %s", reduce);
    setup->ordered &= *reduce == 'd';
    setup->fixed &= *reduce != 'a';
    if (grouped && draw_chance(draw, 60))
        write_text(
            setup, ", group: %s",
            ONE_OF(draw, "node", "package", "numa", "l3", "1", "2", "3"));
    if (grouped && *reduce != 'm' && draw_chance(draw, 30))
        write_text(setup, ", node: %s", ONE_OF(draw, "fp32", "format"));
    if (*reduce == 'r' || *reduce == 'm' || *reduce == 'a')
        *accumulate = ONE_OF(draw, "", "", "fp32", "format");
}

/* Draws the format and another one, between which the library chooses. */
static void draw_several(struct setup *setup, struct draw *draw,
                         const char *format)
{
    const bool same = strcmp(format, "e5m10") == 0;

    write_text(setup, "format: {auto: [%s, %s], target: %s, every: %d}", format,
               same ? "e6m9" : "e5m10",
               ONE_OF(draw, "snr 15dB", "snr 30dB", "err 0.01"),
               1 + draw_below(draw, 6));
}

static void draw_format(struct setup *setup, struct draw *draw, bool sums,
                        bool alone, const char *accumulate)
{
    const bool rounds = *accumulate == 'k' || strcmp(accumulate, "format") == 0;
    const char *const format = setup->exact
                                   ? "e8m23"
                                   : ONE_OF(draw, "e5m2", "e4m3", "e5m10",
                                            "e8m7", "e6m9", "bf16", "e7m12");
    const int mantissa = *format == 'b' ? 7 : (int)strtol(format + 3, NULL, 10);
    const bool wide = mantissa >= 7;

    if (alone && !setup->exact && draw_chance(draw, 35))
        draw_several(setup, draw, format);
    else
        write_text(setup, "format: %s", format);
    if (mantissa < setup->mantissa)
        setup->mantissa = mantissa;
    if (rounds)
        write_text(setup, "%s",
                   wide ? ONE_OF(draw, "", ", scale: aps", ", scale: none")
                        : ONE_OF(draw, "", ", scale: aps"));
    else
        write_text(setup, "%s",
                   wide ? ONE_OF(draw, "", ", scale: aps", ", scale: none",
                                 ", scale: aps-tight")
                        : ONE_OF(draw, "", ", aps: on", ", scale: aps-tight"));
    if (*accumulate && sums)
        write_text(setup, ", accumulate: %s", accumulate);
}

/* Calls of a rule, and its condition; "" for none. */
struct scope {
    const char *calls;
    char condition[32];
    int percent; /* chance that the rule is fp32, in per cent */
};

static void draw_rule(struct setup *setup, struct draw *draw,
                      const struct scope *scope)
{
    const char *const calls = scope->calls;
    const bool allreduce = !*calls || strstr(calls, "allreduce");
    const char *accumulate = ONE_OF(draw, "", "", "", "format", "kahan");
    char tail[160] = "";

    write_text(setup, "  - {%s%s%s%s%s", *calls ? "calls: " : "", calls,
               *calls ? ", " : "", scope->condition,
               setup->elements >> BASE_DOUBLE & 1
                   ? "types: [float, bf16, fp16, double], "
                   : "");
    if (draw_chance(draw, scope->percent)) {
        write_text(setup, "format: fp32}\n");
        setup->ordered = false;
        return;
    }
    if (allreduce) {
        /* Follows format and accumulate, and changes the latter. */
        const size_t used = strlen(setup->policy);

        draw_reduction(setup, draw, &accumulate);
        snprintf(tail, sizeof tail, "%s", setup->policy + used);
        setup->policy[used] = '\0';
        setup->ordered &= *accumulate == '\0';
    }
    draw_format(setup, draw,
                strcmp(calls, "allgather") != 0 && strcmp(calls, "bcast") != 0,
                !*calls, accumulate);
    write_text(setup, "%s}\n", tail);
}

/* Mostly between the counts; never excludes the whole policy. */
static int draw_threshold(const struct setup *setup, struct draw *draw)
{
    const int count = setup->counts[draw_below(draw, COUNTS)];

    if (count > setup->min_count)
        return count - draw_below(draw, 2) + 1;
    return setup->min_count + 1 + draw_below(draw, 1500);
}

static void draw_rules(struct setup *setup, struct draw *draw, bool steps,
                       bool epochs)
{
    const int others = draw_below(draw, 4);
    struct scope scope = {.calls = "", .percent = 25};

    /* Calls that match no rule pass through. */
    const bool some = draw_chance(draw, 30);

    if (some || draw_chance(draw, 30)) {
        snprintf(scope.condition, sizeof scope.condition, "%s: %d, ",
                 ONE_OF(draw, "min_count", "max_count"),
                 draw_threshold(setup, draw));
        draw_rule(setup, draw, &scope);
        setup->ordered = false;
    }
    if (steps && draw_chance(draw, 60)) {
        snprintf(scope.condition, sizeof scope.condition, "%s, ",
                 epochs ? ONE_OF(draw, "epochs: 0", "epochs: 1-")
                        : ONE_OF(draw, "layers: 0", "layers: first"));
        draw_rule(setup, draw, &scope);
    }
    scope.condition[0] = '\0';
    if (others == 1) {
        scope.calls = ONE_OF(draw, "[reduce_scatter, reduce, allgather, bcast]",
                             "reduce_scatter", "[reduce, allgather]",
                             "allgather", "bcast", "[bcast, reduce]");
        draw_rule(setup, draw, &scope);
    }
    if (some)
        return;
    scope.calls = others == 2
                      ? ONE_OF(draw, "[allreduce, reduce_scatter, reduce]",
                               "[allreduce, allgather]", "[allreduce, bcast]")
                      : "";
    scope.percent = 5;
    draw_rule(setup, draw, &scope);
}

static void draw_policy(struct setup *setup, struct draw *draw)
{
    const bool steps = draw_chance(draw, 25);
    const bool epochs = steps && draw_chance(draw, 50);

    setup->exact = draw_chance(draw, 50);
    setup->ordered = setup->exact && !steps;
    setup->fixed = true;
    setup->mantissa = 23;
    write_text(setup, "version: 1\nmin_count: %d\n", setup->min_count);
    write_text(setup, "progress: %s\n", ONE_OF(draw, "calls", "thread"));
    if (draw_chance(draw, 35))
        write_text(setup, "fuse: %s\n",
                   ONE_OF(draw, "1KiB", "8KiB", "64KiB", "4MiB"));
    setup->elements = 1 << BASE_FLOAT;
    if (draw_chance(draw, 40))
        setup->elements |= 1 << BASE_DOUBLE;
    if (draw_chance(draw, 60)) {
        write_text(setup, "operations: probe\n");
        setup->elements |= 1 << BASE_BF16 | 1 << BASE_FP16;
    }
    if (draw_chance(draw, 50))
        write_text(setup, "log: {file: random.csv, every: %d}\n",
                   1 + draw_below(draw, 4));
    setup->pcontrol = draw_chance(draw, 60);
    if (!setup->pcontrol)
        write_text(setup, "pcontrol: off\n");
    if (steps && (epochs || draw_chance(draw, 50)))
        write_text(setup,
                   epochs ? "steps: {calls: %d, per_epoch: 2}\n"
                          : "steps: {calls: %d}\n",
                   1 + draw_below(draw, 4));
    write_text(setup, "rules:\n");
    draw_rules(setup, draw, steps, epochs);
}

/* Around min_count and a few others, with some twice. */
static void draw_counts(struct setup *setup, struct draw *draw)
{
    static const int least[] = {1, 16, 100, 1024};
    const int base = least[draw_below(draw, 4)];

    setup->min_count = base;
    for (int i = 0; i < COUNTS; i++)
        switch (draw_below(draw, 8)) {
        case 0:
            setup->counts[i] = base - 1;
            break;
        case 1:
            setup->counts[i] = base;
            break;
        case 2:
            setup->counts[i] = 1 + draw_below(draw, 40);
            break;
        case 3:
            setup->counts[i] = 1024 + 89 * draw_below(draw, 3);
            break;
        case 4:
            setup->counts[i] = 4000 + draw_below(draw, 9000);
            break;
        case 5:
            setup->counts[i] = i > 0 ? setup->counts[i - 1] : 64;
            break;
        default:
            setup->counts[i] = base + 1 + draw_below(draw, 2000);
            break;
        }
}

/* --- the rest ------------------------------------------------------------- */

void setup_draw(struct setup *setup, uint64_t seed, int size)
{
    struct draw drawn = {.state = mix(seed) + 77}, *draw = &drawn;

    memset(setup, 0, sizeof *setup);
    setup->seed = seed;
    setup->size = size;
    if (seed % 100 == 7)
        setup->special = SPECIAL_LATE;
    else if (seed % 52 == 20 && size == 2)
        setup->special = SPECIAL_MANY;
    if (draw_chance(draw, 50))
        setup->threads = draw_below(draw, MAX_THREADS + 1);
    setup->multiple = setup->threads > 0 || draw_chance(draw, 50);
    setup->events = (size <= 2 ? 70 : 45) / (1 + setup->threads);
    draw_counts(setup, draw);
    draw_policy(setup, draw);
    if (draw_chance(draw, 25))
        setup->absent = (unsigned)draw_word(draw) & ~1u & ((1u << size) - 1);
    if (setup->absent != 0 || setup->pcontrol)
        setup->ordered = false;
    if (draw_chance(draw, 40)) {
        setup->nodes = 1 + draw_below(draw, size);
        setup->cyclic = draw_chance(draw, 40);
    }
    if (setup->absent != 0)
        setup->fixed = false;
}

static int setup_write(const struct setup *setup, const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        return -1;
    fputs(setup->policy, file);
    return fclose(file);
}

int setup_environment(const struct setup *setup, int rank)
{
    char text[64];

    snprintf(text, sizeof text, "random-%llu-%d.yaml",
             (unsigned long long)setup->seed, rank);
    if (setup->absent >> rank & 1)
        remove(text);
    else if (setup_write(setup, text) < 0)
        return -1;
    setenv("APSMPI_POLICY", text, 1);
    if (setup->nodes > 0) {
        snprintf(text, sizeof text, "%d%s", setup->nodes,
                 setup->cyclic ? ":cyclic" : "");
        setenv("APSMPI_TEST_NODES", text, 1);
    }
    return 0;
}
