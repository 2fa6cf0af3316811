/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/compressor.h"

#include <stdio.h>

#define OPS(kind, ops, word)                                                   \
    [APS_COMPRESSOR_##kind] = &aps_compressor_ops_##ops,
const struct aps_compressor_ops *const aps_compressors[APS_COMPRESSOR_KINDS] = {
    APS_COMPRESSORS(OPS)};

#define WORD(kind, ops, word) [APS_COMPRESSOR_##kind] = word,
const char *const aps_compressor_names[APS_COMPRESSOR_KINDS + 1] = {
    APS_COMPRESSORS(WORD)[APS_COMPRESSOR_KINDS] = NULL};

const char *aps_compressor_name(const struct aps_compressor *compressor)
{
    return aps_compressor_names[compressor->kind];
}

bool aps_compressor_equal(const struct aps_compressor *a,
                          const struct aps_compressor *b)
{
    for (int i = 0; i < APS_COMPRESSOR_PARAMETERS; i++) {
        if (a->parameters[i] != b->parameters[i])
            return false;
    }
    return a->kind == b->kind;
}

char *aps_compressor_describe(const struct aps_compressor *compressor,
                              char *buffer, size_t size)
{
    const struct aps_compressor_ops *ops = aps_compressor_ops_of(compressor);

    if (ops->describe)
        ops->describe(compressor, buffer, size);
    else
        snprintf(buffer, size, "%s", aps_compressor_name(compressor));
    return buffer;
}
