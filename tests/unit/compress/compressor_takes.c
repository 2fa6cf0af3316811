/* SPDX-License-Identifier: BSD-3-Clause */
/* Layers that compressors accept: indices have 32 bits. */
#include "config.h"

#include "compress/compressor.h"

#include "tests/tap/tap.h"

static const struct aps_compressor compressors[] = {
    {APS_COMPRESSOR_POWERSGD,
     {[APS_POWERSGD_RANK] = 4, [APS_POWERSGD_MIN_RATIO] = 2}},
    {APS_COMPRESSOR_MSTOPK, {[APS_SELECTING_DENSITY] = 0.01}},
    {APS_COMPRESSOR_TOPK, {[APS_SELECTING_DENSITY] = 0.01}},
    {APS_COMPRESSOR_THRESHOLD,
     {[APS_SELECTING_DENSITY] = 0.01, [APS_THRESHOLD_VALUE] = 1}},
    {APS_COMPRESSOR_MSTOPK_POWERSGD,
     {[APS_POWERSGD_RANK] = 4,
      [APS_POWERSGD_MIN_RATIO] = 2,
      [APS_MSTOPK_POWERSGD_DENSITY] = 0.01}},
};

static bool takes(const struct aps_compressor *compressor, size_t count)
{
    const struct aps_matrix matrix = aps_matrix_square(count);

    return aps_compressor_takes(compressor, &matrix);
}

int main(void)
{
    for (size_t i = 0; i < sizeof compressors / sizeof *compressors; i++) {
        const struct aps_compressor *compressor = &compressors[i];
        const char *name = aps_compressor_name(compressor);
        const bool selects = aps_compressor_ops_of(compressor)->most;

        ok(!takes(compressor, 0), "%s takes no layer of no elements", name);
        ok(takes(compressor, 10000), "... one of some");
        ok(takes(compressor, UINT32_MAX - 1), "... and one of nearly 2^32");
        ok(takes(compressor, (size_t)UINT32_MAX + 1) != selects,
           "... of more: %s", selects ? "none" : "that, too");
    }
    return done_testing();
}
