/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of libaps-cuda before it needs a GPU: block formats and integers, with
 * a message that says what to do.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "cuda/aps_cuda.h"
#include "tap/tap.h"

static struct aps_error error;

/* Checks that a call that returned `result` refused its format, in these words. */
static void refused(int result, const char *words, const char *what)
{
    ok(result == -1 && errno == EINVAL && strstr(error.text, words), "%s: %s",
       what, error.text);
    memset(&error, 0, sizeof error);
    errno = 0;
}

static const struct aps_format *format_of(const char *name)
{
    const struct aps_format *format = aps_format_get(name, NULL);

    if (!format)
        bail_out("%s is no format", name);
    return format;
}

static void test_gemm(const char *name)
{
    float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4] = {9, 9, 9, 9};
    const struct aps_gemm_arguments g = {
        .size = sizeof g,
        .format = format_of(name),
        .accumulator = format_of("fp32"),
        .m = 2,
        .n = 2,
        .k = 2,
        .alpha = 1,
        .a = a,
        .lda = 2,
        .b = b,
        .ldb = 2,
        .c = c,
        .ldc = 2,
    };
    const struct aps_cast_options cast = APS_CAST_OPTIONS_INIT;
    struct aps_gemm_arguments empty = g;

    refused(aps_cuda_gemm(&g, NULL, &error),
            "is in blocks: use aps_gemm, on the host", name);
    ok(c[0] == 9 && c[3] == 9, "%s: ... and C is as it was", name);
    empty.m = 0;
    refused(aps_cuda_gemm(&empty, NULL, &error), name, "... without rows, too");
    empty.format = format_of("e4m3");
    empty.cast = &cast;
    refused(aps_cuda_gemm(&empty, NULL, &error), "cast must be NULL",
            "... and with a cast of the operands");
}

static void test_arrays(const char *name, const char *words)
{
    const struct aps_format *format = format_of(name);
    float x[64] = {1}, y[64];
    const float *terms[] = {x, x};
    unsigned char packed[512] = {0};

    refused(aps_cuda_cast_array(format, x, 64, NULL, y, NULL, &error), words,
            "a cast");
    refused(aps_cuda_encode_array(format, x, 64, NULL, packed, NULL, &error),
            words, "an encode");
    refused(aps_cuda_decode_array(format, packed, 64, NULL, y, NULL, &error),
            words, "a decode");
    refused(
        aps_cuda_decode_add_array(format, packed, 64, NULL, y, NULL, &error),
        words, "a decode that adds");
    refused(aps_cuda_sum(format, 2, 64, terms, y, NULL, &error), words,
            "a sum");
}

int main(void)
{
    test_gemm("bfp7/64");
    test_gemm("mx-e4m3fn");
    test_gemm("nvfp4");
    test_arrays("bfp7/64", "'bfp7/64' is in blocks of 64 values");
    test_arrays("flex16", "'flex16' is of integers");
    return done_testing();
}
