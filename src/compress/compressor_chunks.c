/* SPDX-License-Identifier: BSD-3-Clause */
/* GradientFlow's chunks, chunks.h. */
#include "config.h"

#include <stdio.h>

#include "base/print.h"
#include "compress/chunks.h"
#include "compress/compressor.h"
#include "compress/select.h"

static size_t chunks_chunk(const struct aps_compressor *compressor,
                           size_t count, size_t *keep)
{
    const size_t size = (size_t)compressor->parameters[APS_CHUNKS_SIZE];

    *keep = aps_select_count(compressor->parameters[APS_CHUNKS_DENSITY],
                             aps_chunks_count(count, size));
    return size;
}

/* A short last chunk that is chosen is sent as long as others, unless all
 * are. */
static size_t chunks_floats(const struct aps_compressor *compressor,
                            const struct aps_matrix *matrix)
{
    size_t keep;
    const size_t size = chunks_chunk(compressor, matrix->count, &keep);
    const size_t chunks = aps_chunks_count(matrix->count, size);

    return chunks + (keep < chunks ? keep * size : matrix->count);
}

static void chunks_describe(const struct aps_compressor *compressor,
                            char *buffer, size_t size)
{
    aps_print(buffer, size, "chunks %g of %.0f",
              compressor->parameters[APS_CHUNKS_DENSITY],
              compressor->parameters[APS_CHUNKS_SIZE]);
}

const struct aps_compressor_ops aps_compressor_ops_chunks = {
    .floats = chunks_floats,
    .chunk = chunks_chunk,
    .feedback = true,
    .describe = chunks_describe,
};
