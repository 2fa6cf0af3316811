/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats as programs use them: one permanent object for each format, and its
 * properties.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <aps.h>

#include "tap/tap.h"

#define THREADS 8
#define EXPONENTS 8
#define MANTISSAS 24

static void test_bad(void)
{
    struct aps_error error = {.text = ""};

    errno = 0;
    ok(!aps_format_get("e9m9", &error) && errno == EINVAL,
       "an invalid name gives NULL and EINVAL");
    ok(strstr(error.text, "wider than FP32"), "... with the reason");
    errno = 0;
    ok(!aps_format_get(NULL, NULL) && errno == EINVAL,
       "a name that is NULL does, too; the error argument is optional");
}

static void test_getters(void)
{
    static const struct {
        const char *name, *canonical;
        int exponent_bits, mantissa_bits, width, bias;
        bool inf, nan, saturates;
    } table[] = {
        {"fp32", "e8m23", 8, 23, 32, 127, true, true, false},
        {"e5m2", "e5m2", 5, 2, 8, 15, true, true, false},
        {"e3m0", "e3m0", 3, 0, 4, 3, true, false, false},
        {"e5m2-sat", "e5m2-sat", 5, 2, 8, 15, true, true, true},
        {"e4m3fn", "e4m3fn", 4, 3, 8, 7, false, true, false},
        {"e4m3fn-sat", "e4m3fn-sat", 4, 3, 8, 7, false, true, true},
        {"e2m1fn", "e2m1fn", 2, 1, 4, 1, false, false, true},
        {"hbfp8/64", "bfp7/64", 0, 7, 8, 1, false, true, true},
        {"mx-e5m2", "mx-e5m2", 5, 2, 8, 15, false, true, true},
        {"mx-int8", "mx-int8", 0, 7, 8, 0, false, true, true},
        {"nvfp4", "nvfp4", 2, 1, 4, 1, false, true, true},
        {"flex16", "flex16", 0, 15, 16, -14, false, false, true},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct aps_format *f = aps_format_get(table[i].name, NULL);

        if (!ok(f, "'%s' is a format", table[i].name))
            continue;
        is(aps_format_name(f), table[i].canonical, "... its name");
        ok(aps_format_exponent_bits(f) == table[i].exponent_bits &&
               aps_format_mantissa_bits(f) == table[i].mantissa_bits &&
               aps_format_width(f) == table[i].width &&
               aps_format_bias(f) == table[i].bias,
           "... its bits");
        ok(aps_format_has_inf(f) == table[i].inf &&
               aps_format_has_nan(f) == table[i].nan &&
               aps_format_saturates(f) == table[i].saturates,
           "... its special values");
    }
}

static void test_one_object(void)
{
    const struct aps_format *f = aps_format_get("e5m10", NULL);

    ok(f == aps_format_get("fp16", NULL), "an alias is the same object");
    ok(f != aps_format_get("fp16-sat", NULL), "another format is another one");
    ok(aps_format_get("e2m1fn-sat", NULL) == aps_format_get("e2m1fn", NULL),
       "a suffix that changes nothing makes no other format");
}

/* All formats eEmM, requested by several threads at once. */
static const struct aps_format *seen[THREADS][EXPONENTS][MANTISSAS];

static void *ask_for_all(void *data)
{
    const struct aps_format *(*formats)[MANTISSAS] = data;

    for (int e = 0; e < EXPONENTS; e++) {
        for (int m = 0; m < MANTISSAS; m++) {
            char name[32];

            snprintf(name, sizeof name, "e%dm%d", e + 1, m);
            formats[e][m] = aps_format_get(name, NULL);
        }
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    bool same = true, right = true;

    for (int t = 0; t < THREADS; t++) {
        if (pthread_create(&threads[t], NULL, ask_for_all, seen[t]) != 0)
            bail_out("no thread");
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++)
        same &= memcmp(seen[t], seen[0], sizeof seen[0]) == 0;
    for (int e = 0; e < EXPONENTS; e++) {
        for (int m = 0; m < MANTISSAS; m++)
            right &= seen[0][e][m] &&
                     aps_format_exponent_bits(seen[0][e][m]) == e + 1 &&
                     aps_format_mantissa_bits(seen[0][e][m]) == m;
    }
    ok(same, "%d threads get the same objects", THREADS);
    ok(right, "... of the formats that they asked for");
}

int main(void)
{
    test_bad();
    test_getters();
    test_one_object();
    test_threads();
    return done_testing();
}
