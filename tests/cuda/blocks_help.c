/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "blocks_help.h"

#include "cuda/pieces.h"
#include "number/parse.h"
#include "tap/tap.h"

const struct aps_memory *const verbs = &aps_cuda_plugin.memory;

char cause[256];

unsigned long failures(void)
{
    char why[256];

    return verbs->failures(why, sizeof why);
}

bool kept(CUcontext context)
{
    return fake_context_get() == context &&
           fake_capture_mode() == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

unsigned char *get_memory(const void *near, size_t bytes)
{
    unsigned char *memory =
        verbs->device->allocate(near, bytes, cause, sizeof cause);

    if (!memory)
        bail_out("%s", cause);
    return memory;
}

size_t long_one(const char *name)
{
    struct aps_format format;

    if (aps_format_parse(name, &format, NULL) < 0)
        bail_out("%s does not parse", name);
    return (APS_CUDA_STREAM_SLOTS + 2) * aps_piece_values(&format) + 77;
}
