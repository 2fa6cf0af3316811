/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that uses the functions of libaps-cuda that need no GPU. */
#include <aps_cuda.h>
#include <errno.h>
#include <stdio.h>

int main(void)
{
    const struct aps_format *format = aps_format_get("e5m2", NULL);
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    struct aps_error error;

    if (aps_cuda_cast_array(format, NULL, 1, &options, NULL, NULL, &error) ==
            0 ||
        errno != EINVAL)
        return 1;
    if (aps_cuda_cast_array(format, NULL, 0, &options, NULL, NULL, &error) < 0)
        return 2;
    printf("%s\n", aps_cuda_version() == APS_VERSION ? "right" : "wrong");
    return 0;
}
