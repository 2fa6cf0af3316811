/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "yaml/size.h"
#include "policy/keywords.h"

#define LINE_WIDTH 78

static int read_source(const char *path, const char *candidates,
                       struct aps_policy_source *source,
                       struct aps_errors *errors)
{
    int result;

    if (candidates && strcmp(path, APS_COMMAND_SHADOW) == 0) {
        result =
            aps_policy_source_shadow(candidates, APS_COMMAND_SHADOW, source);
    } else {
        result = aps_policy_source_read(path, source, errors);
        if (result < 0 || !candidates)
            return result;
        source->shadow = strdup(candidates);
        source->shadow_name = APS_COMMAND_SHADOW;
        result = source->shadow ? 0 : -1;
        if (result < 0)
            aps_policy_source_clear(source);
    }
    if (result < 0)
        aps_errors_add(errors, path, 0, 0, "out of memory");
    return result;
}

int aps_command_load(const char *path, const char *candidates,
                     struct aps_policy **policy, struct aps_errors *errors)
{
    struct aps_policy_source source;
    int result = read_source(path, candidates, &source, errors);

    if (result == 0) {
        result = aps_policy_parse(&source, policy, errors);
        aps_policy_source_clear(&source);
    }
    return result;
}

static void append(char *buffer, size_t size, const char *key,
                   const char *value)
{
    size_t used = strlen(buffer);

    snprintf(buffer + used, size - used, ", %s: %s", key, value);
}

char *aps_command_summary(const struct aps_policy *policy, char *buffer,
                          size_t size)
{
    const struct aps_policy_steps *steps = aps_policy_steps(policy);
    const struct aps_layers *table = aps_policy_layers(policy);
    size_t rules = aps_policy_rules(policy);
    char layers[64] = "no layer table";
    const struct aps_policy_gemm *gemm = aps_policy_gemm(policy);
    char kind[64] = "not needed";
    char products[APS_COMMAND_GEMM_MAX], fuse[32], threads[12] = "auto";

    if (table)
        snprintf(layers, sizeof layers, "%zu layer%s", table->count,
                 aps_plural(table->count));
    if (steps->kind == APS_STEPS_AUTO)
        snprintf(kind, sizeof kind, "auto");
    else if (steps->kind == APS_STEPS_CALLS)
        snprintf(kind, sizeof kind, "%ld call%s", steps->calls,
                 aps_plural(steps->calls));
    else if (steps->kind == APS_STEPS_TABLE)
        snprintf(kind, sizeof kind, "from the table%s",
                 steps->any ? ", in any order" : "");
    snprintf(buffer, size, "%zu rule%s, %s, steps: %s%s%s", rules,
             aps_plural(rules), layers, kind, gemm ? ", gemm: " : "",
             gemm ? aps_command_gemm(gemm, products, sizeof products) : "");
    if (aps_policy_shadows(policy))
        append(buffer, size, "shadow",
               aps_policy_log(policy)->stated ? "on" : "in its budget");
    if (aps_policy_progress(policy) != APS_PROGRESS_CALLS)
        append(buffer, size, "progress",
               aps_progress_name(aps_policy_progress(policy)));
    if (aps_policy_fuse(policy) > 0)
        append(buffer, size, "fuse",
               aps_size_format(aps_policy_fuse(policy), fuse, sizeof fuse));
    if (aps_policy_threads(policy) != APS_THREADS_AUTO)
        snprintf(threads, sizeof threads, "%d", aps_policy_threads(policy));
    if (aps_policy_threads(policy) != 1)
        append(buffer, size, "threads", threads);
    return buffer;
}

char *aps_command_gemm(const struct aps_policy_gemm *gemm, char *buffer,
                       size_t size)
{
    const bool other = strcmp(gemm->format.name, gemm->format_b.name) != 0;
    const bool nearest = gemm->rounding == APS_ROUND_NEAREST;
    char chunk[32] = "";

    if (gemm->chunk > 0)
        snprintf(chunk, sizeof chunk, " (chunks of %d)", gemm->chunk);
    if (gemm->next)
        snprintf(buffer, size, "rules for products");
    else if (!gemm->rewrite)
        snprintf(buffer, size, "native");
    else
        snprintf(buffer, size, "products %s%s%s%s%s%s, sums %s%s%s",
                 gemm->format.name, other ? " x " : "",
                 other ? gemm->format_b.name : "", nearest ? "" : " (operands ",
                 nearest ? "" : aps_rounding_name(gemm->rounding),
                 nearest ? "" : ")", gemm->accumulator.name,
                 gemm->kahan ? " (kahan)" : "", chunk);
    return buffer;
}

char *aps_command_format(const struct aps_plan *plan, char *buffer, size_t size)
{
    const bool nearest = plan->rounding == APS_ROUND_NEAREST;
    const bool compressed = plan->compressor.kind != APS_COMPRESSOR_NONE;
    char compress[APS_COMPRESSOR_TEXT_MAX] = "";

    if (compressed)
        aps_compressor_describe(&plan->compressor, compress, sizeof compress);
    if (aps_compressor_ops_of(&plan->compressor)->integers) {
        snprintf(buffer, size, "%s", compress);
        return buffer;
    }
    snprintf(buffer, size, "%s%s%s%s%s", compress, compressed ? " in " : "",
             plan->format.name, nearest ? "" : " ",
             nearest ? "" : aps_rounding_name(plan->rounding));
    return buffer;
}

char *aps_command_scale(const struct aps_plan *plan, char *buffer, size_t size)
{
    if (aps_compressor_ops_of(&plan->compressor)->integers)
        return strcpy(buffer, "-");
    if (!plan->format.self_scaled)
        return aps_scale_describe(&plan->scale, buffer, size);
    snprintf(buffer, size, "%s", APS_COMMAND_BLOCK_SCALE);
    return buffer;
}

char *aps_command_rule(const struct aps_policy *policy, int rule,
                       char buffer[APS_COMMAND_RULE_MAX])
{
    const char *name = aps_policy_rule_name(policy, rule);

    snprintf(buffer, APS_COMMAND_RULE_MAX, "%d%s%.60s",
             aps_policy_rule_line(policy, rule), name ? " " : "",
             name ? name : "");
    return buffer;
}

char *aps_command_memory(size_t longest, char *buffer, size_t size)
{
    if (longest > 0)
        snprintf(buffer, size,
                 "%zu bytes on rank 0 and %zu on others, for the longest layer",
                 12 * longest, 4 * longest);
    else
        snprintf(buffer, size,
                 "12 bytes an element of the longest layer on rank 0, 4 on "
                 "others");
    return buffer;
}

void aps_command_note(const char *note)
{
    size_t used = 0;

    putchar('\n');
    while (*note) {
        size_t length = strcspn(note, " ");

        if (used > 0 && used + 1 + length > LINE_WIDTH) {
            fputs("\n ", stdout);
            used = 1;
        }
        printf("%s%.*s", used > 0 ? " " : "", (int)length, note);
        used += (used > 0) + length;
        note += length + strspn(note + length, " ");
    }
    putchar('\n');
}

void *aps_command_alloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory) {
        fprintf(stderr, "apsmpi: out of memory\n");
        exit(APS_EXIT_FAILURE);
    }
    return memory;
}
