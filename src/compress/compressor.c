/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/compressor.h"

#include <stdio.h>

#include "base/print.h"

/* The values themselves travel. */
const struct aps_compressor_ops aps_compressor_ops_none = {0};

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

/* Indices of elements and numbers of chunks have 32 bits. */
bool aps_compressor_takes(const struct aps_compressor *compressor,
                          const struct aps_matrix *matrix)
{
    const struct aps_compressor_ops *ops = aps_compressor_ops_of(compressor);

    return compressor->kind != APS_COMPRESSOR_NONE && matrix->count > 0 &&
           (matrix->count < UINT32_MAX || (!ops->select && !ops->chunk)) &&
           (!ops->takes || ops->takes(compressor, matrix));
}

bool aps_compressor_keeps(const struct aps_compressor *compressor)
{
    const int keeps = aps_compressor_ops_of(compressor)->keeps;

    return keeps > 0 && compressor->parameters[keeps] != 0;
}

uint64_t aps_compressor_seed(const struct aps_compressor *compressor)
{
    const int seed = aps_compressor_ops_of(compressor)->seed;

    return seed > 0 ? (uint64_t)compressor->parameters[seed] : 0;
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
    else if (compressor->kind == APS_COMPRESSOR_NONE)
        snprintf(buffer, size, "%s", aps_compressor_name(compressor));
    else
        aps_print(buffer, size, "%s %g", aps_compressor_name(compressor),
                  compressor->parameters[ops->described]);
    return buffer;
}
