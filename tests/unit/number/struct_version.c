/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structs that a program fills and that begin with their size, in programs that
 * were built with an older or a newer header.
 */
#include "config.h"

#include "number/struct_version.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "tap/tap.h"

/* A struct in its first, its present and a later version. */
struct first {
    size_t size;
    int32_t a;
    int32_t b;
};
struct present {
    size_t size;
    int32_t a;
    int32_t b;
    int64_t c;
};
struct later {
    size_t size;
    int32_t a;
    int32_t b;
    int64_t c;
    int64_t d;
};

static const struct present defaults = {sizeof defaults, 1, 2, 3};
static const struct aps_struct_version kind = {
    .name = "present",
    .init = "PRESENT_INIT",
    .first = sizeof(struct first),
    .size = sizeof(struct present),
    .defaults = &defaults,
};

static void takes(const char *name, const void *given, struct present expected)
{
    struct present result = {.size = 0};

    ok(aps_struct_version_read("f", &kind, given, &result, NULL) == 0 &&
           result.size == sizeof result && result.a == expected.a &&
           result.b == expected.b && result.c == expected.c,
       "%s", name);
}

static void refuses(const char *name, const void *given, const char *text)
{
    struct present result = {.a = 42};
    struct aps_error error = {.text = ""};

    errno = 0;
    ok(aps_struct_version_read("f", &kind, given, &result, &error) == -1 &&
           errno == EINVAL && result.a == 42,
       "%s: refused, nothing written", name);
    is(error.text, text, "... with its cause");
}

static void test_sizes(void)
{
    const struct first first = {sizeof first, 5, 6};
    const struct present present = {sizeof present, 5, 6, 7};
    const struct later zero = {sizeof zero, 5, 6, 7, 0};
    const struct later set = {sizeof set, 5, 6, 7, 8};
    struct present wrong = present;

    takes("a struct of this version is taken as it is", &present,
          (struct present){0, 5, 6, 7});
    takes("a struct of an older version is completed by defaults", &first,
          (struct present){0, 5, 6, 3});
    takes("a struct of a newer version is taken if the rest is zero", &zero,
          (struct present){0, 5, 6, 7});
    refuses("a struct of a newer version that sets the rest", &set,
            "f: struct present sets byte 24, which this version "
            "(" PACKAGE_VERSION ") does not know; a newer libaps does");
    wrong.size = 0;
    refuses("a struct without its size", &wrong,
            "f: struct present begins with the size 0, which none has; "
            "initialise it with PRESENT_INIT");
    wrong.size = sizeof first - 1;
    refuses("a struct smaller than the first version's", &wrong,
            "f: struct present begins with the size 15, which none has; "
            "initialise it with PRESENT_INIT");
    wrong.size = 0x5a5a5a5a;
    refuses("a struct of no possible size", &wrong,
            "f: struct present begins with the size 1515870810, which none "
            "has; initialise it with PRESENT_INIT");
}

/* The API refuses such structs, and those of a newer header. */
static void test_api(void)
{
    const struct aps_format *f = aps_format_get("e5m2", NULL);
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    struct aps_gemm_arguments g = APS_GEMM_ARGUMENTS_INIT;
    struct {
        struct aps_cast_options known;
        int64_t later;
    } newer = {APS_CAST_OPTIONS_INIT, 0};
    struct aps_error error = {.text = ""};
    float x = 3.3f, y = 0;

    ok(aps_cast_array(f, &x, 1, &options, &y, NULL) == 0 && y == 3.5f,
       "APS_CAST_OPTIONS_INIT rounds to nearest");
    newer.known.size = sizeof newer;
    ok(aps_cast_array(f, &x, 1, &newer.known, &y, NULL) == 0,
       "options of a newer header that ask for nothing new are taken");
    newer.later = 1;
    ok(aps_cast_array(f, &x, 1, &newer.known, &y, NULL) == -1 &&
           errno == EINVAL,
       "... and others are not");
    options.size = 0;
    ok(aps_cast_array(f, &x, 1, &options, &y, &error) == -1 &&
           strstr(error.text, "initialise it with APS_CAST_OPTIONS_INIT"),
       "options without a size are refused, with the way out");
    ok(aps_encode_array(f, &x, 1, &options, &y, NULL) == -1,
       "... by all that take them");
    g.format = g.accumulator = f;
    g.lda = g.ldb = g.ldc = 1;
    ok(aps_gemm(&g, NULL) == 0 && g.alpha == 1,
       "APS_GEMM_ARGUMENTS_INIT is an empty product, times 1");
    g.size = 0;
    ok(aps_gemm(&g, &error) == -1 &&
           strstr(error.text, "initialise it with APS_GEMM_ARGUMENTS_INIT"),
       "arguments of a product without a size are refused");
}

/* No struct may have padding at its end, where a later member could be. */
static void test_padding(void)
{
    ok(sizeof(struct aps_cast_options) ==
           offsetof(struct aps_cast_options, ranks) + sizeof(uint64_t),
       "struct aps_cast_options has no padding at its end");
    ok(sizeof(struct aps_gemm_arguments) ==
           offsetof(struct aps_gemm_arguments, cast) + sizeof(void *),
       "struct aps_gemm_arguments has no padding at its end");
}

int main(void)
{
    test_sizes();
    test_api();
    test_padding();
    return done_testing();
}
