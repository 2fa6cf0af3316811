/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "policy/policy.h"

int aps_bench_policy_extra(const struct aps_bench_choice *c, int f, int r)
{
    return 1 + r * c->format_count + f;
}

int aps_bench_policy_bypassed(const struct aps_bench_choice *c)
{
    return 1 + c->reduce_count * c->format_count;
}

static int compare(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* Returns all sizes once, with those of tensors, in order; the caller frees them. */
static size_t *all_sizes(const struct aps_bench_choice *c, int *count)
{
    const int n = c->size_count + c->tensor_count;
    size_t *all = malloc((size_t)(n + 1) * sizeof *all);

    *count = 0;
    if (!all)
        return NULL;
    memcpy(all, c->sizes, (size_t)c->size_count * sizeof *all);
    if (c->tensor_count)
        memcpy(all + c->size_count, c->tensors,
               (size_t)c->tensor_count * sizeof *all);
    qsort(all, (size_t)n, sizeof *all, compare);
    for (int i = 0; i < n; i++)
        if (*count == 0 || all[i] != all[*count - 1])
            all[(*count)++] = all[i];
    return all;
}

/* Returns -1 if some size plus extra elements could be another size. */
static int check_sizes(const struct aps_bench_choice *c, const size_t *all,
                       int count, char *error)
{
    const size_t extra = (size_t)aps_bench_policy_bypassed(c);

    if (extra >= APS_BENCH_EXTRA) {
        snprintf(error, APS_BENCH_ERROR,
                 "more than %d pairs of a format and a reduction",
                 APS_BENCH_EXTRA - 2);
        return -1;
    }
    for (int i = 1; i < count; i++)
        if (all[i] - all[i - 1] <= extra) {
            snprintf(
                error, APS_BENCH_ERROR,
                "sizes %zu and %zu are too close: with as many formats and "
                "reductions they must differ by more than %zu",
                all[i - 1], all[i], extra);
            return -1;
        }
    return 0;
}

static void print_rules(const struct aps_bench_choice *c, size_t size,
                        FILE *file)
{
    const size_t bypassed = size + (size_t)aps_bench_policy_bypassed(c);

    for (int r = 0; r < c->reduce_count; r++)
        for (int f = 0; f < c->format_count; f++) {
            const size_t n = size + (size_t)aps_bench_policy_extra(c, f, r);

            fprintf(file,
                    "  - {min_count: %zu, max_count: %zu, format: %s, "
                    "reduce: %s%s%s}\n",
                    n, n, c->formats[f].name, c->reduces[r],
                    c->rule ? ", " : "", c->rule ? c->rule : "");
        }
    fprintf(file, "  - {min_count: %zu, max_count: %zu, format: fp32}\n",
            bypassed, bypassed);
}

/* Returns the text of the policy, which the caller frees, or NULL. */
static char *make_text(const struct aps_bench_choice *c, char *error)
{
    char *text = NULL;
    size_t length;
    int count;
    size_t *all = all_sizes(c, &count);
    FILE *file = all ? open_memstream(&text, &length) : NULL;

    snprintf(error, APS_BENCH_ERROR, "out of memory");
    if (file) {
        fprintf(file, "version: 1\nmin_count: 1\nrules:\n");
        for (int i = 0; i < count; i++)
            print_rules(c, all[i], file);
        if (fclose(file) != 0 || check_sizes(c, all, count, error) < 0) {
            free(text);
            text = NULL;
        }
    }
    free(all);
    return text;
}

/* Returns -1 if the policy has an error, which a word of --reduce or --rule has
 * caused. */
static int check_text(char *text, char *error)
{
    static struct aps_errors errors;
    const struct aps_policy_source source = {
        .path = (char[]){"the policy of bench"},
        .text = text,
        .length = strlen(text)};
    struct aps_policy *policy;

    if (aps_policy_parse(&source, &policy, &errors) < 0) {
        snprintf(error, APS_BENCH_ERROR, "--reduce or --rule: %.400s",
                 errors.count > 0 ? errors.list[0].text : "out of memory");
        return -1;
    }
    aps_policy_destroy(policy);
    return 0;
}

/* Writes the text to a new file without a name, which stays open until the process
 * ends, and sets the variable. */
static int set_variable(const char *text, char *error)
{
    const int file = memfd_create("apsmpi-bench", 0);
    char path[40];

    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text)) {
        snprintf(error, APS_BENCH_ERROR, "cannot write a policy to memory: %s",
                 strerror(errno));
        return -1;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return setenv("APSMPI_POLICY", path, 0);
}

int aps_bench_policy_publish(const struct aps_bench_choice *c, char *error)
{
    char *text = make_text(c, error);
    int rc = -1;

    if (text && check_text(text, error) == 0)
        rc = set_variable(text, error);
    free(text);
    return rc;
}
