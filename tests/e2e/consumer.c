/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses all of libaps, in C99 and later and in C++11 and later. Prints
 * the format that its first argument names, and "right" if the numbers are.
 */
#include <aps_policy.h>
#include <stdio.h>
#include <string.h>

#if APS_VERSION < 1
#error "APS_VERSION is not a number"
#endif

/* Pointers to float: aps_sum changes none of the floats. */
static int sums_are_right(const struct aps_format *format)
{
    float a[2] = {1, 2}, b[2] = {3, 4}, out[2] = {0, 0};
    float *x[2] = {NULL, NULL};
    const float *y[2] = {NULL, NULL};
    struct aps_error error;
    int right;

    x[0] = a;
    x[1] = b;
    y[0] = a;
    y[1] = b;
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
    right = aps_sum(format, 2, 2, x, out, &error) == 0 && out[1] == 6;
    right = right && aps_sum(format, 2, 2, y, out, &error) == 0 && out[0] == 4;
#else
    right = aps_sum(format, 2, 2, (const float *const *)x, out, &error) == 0;
    (void)y;
#endif
    return right && out[0] == 4;
}

static int arrays_are_right(const struct aps_format *format)
{
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    float x[3] = {0.75f, -1.5f, 3}, y[3] = {0, 0, 0};
    unsigned char packed[12];
    int exponent = 0;

    if (aps_packed_bytes(format, 3) > sizeof packed ||
        aps_max_exponent(x, 3, 4, &exponent, NULL) < 0)
        return 0;
    options.rounding = APS_ROUND_NEAREST;
    options.scale_exponent = aps_scale_exponent(format, exponent);
    return aps_encode_array(format, x, 3, &options, packed, NULL) == 0 &&
           aps_decode_array(format, packed, 3, &options, y, NULL) == 0 &&
           memcmp(x, y, sizeof x) == 0;
}

static int product_is_right(const struct aps_format *format)
{
    struct aps_gemm_arguments g = APS_GEMM_ARGUMENTS_INIT;
    float a[2] = {1, 2}, b[2] = {3, 4}, c = 0;

    g.format = g.accumulator = format;
    g.m = g.n = 1;
    g.k = g.lda = 2;
    g.ldb = g.ldc = 1;
    g.a = a;
    g.b = b;
    g.c = &c;
    return aps_gemm(&g, NULL) == 0 && c == aps_cast(format, 11);
}

static int policy_is_right(void)
{
    struct aps_layer_request request = APS_LAYER_REQUEST_INIT;
    struct aps_scaler_facts facts = APS_SCALER_FACTS_INIT;
    struct aps_scaler_record record = APS_SCALER_RECORD_INIT;
    struct aps_roundoff roundoff = APS_ROUNDOFF_INIT;
    struct aps_policy *policy = NULL;
    struct aps_layer_plan *plan = NULL;
    int right;

    request.count = 4096;
    right = aps_policy_open("version: 1\nrules: [{format: e4m3}]\n", NULL,
                            &policy, NULL) == 0 &&
            aps_layer_plan_create(policy, &request, &plan, NULL) == 0 &&
            aps_layer_plan_bytes(plan) == 4096 &&
            facts.max_exponent == APS_EXPONENT_ZERO && record.in_max == 0 &&
            roundoff.compared == 0;
    aps_layer_plan_destroy(plan);
    aps_policy_close(policy);
    return right;
}

int main(int argc, char **argv)
{
    struct aps_error error;
    const struct aps_format *format =
        aps_format_get(argc > 1 ? argv[1] : "e5m2", &error);

    if (!format) {
        printf("%s\n", error.text);
        return 1;
    }
    printf("%s %d %g %g\n", aps_format_name(format), aps_format_width(format),
           (double)aps_format_max(format), (double)aps_cast(format, 3.3f));
    if (aps_version() != APS_VERSION ||
        strcmp(aps_version_string(), APS_VERSION_STRING) != 0)
        printf("header %s, library %s\n", APS_VERSION_STRING,
               aps_version_string());
    else if (sums_are_right(format) && arrays_are_right(format) &&
             product_is_right(format) && policy_is_right())
        printf("right\n");
    return 0;
}
