/* SPDX-License-Identifier: BSD-3-Clause */
/* The input is a layer table, up to a NUL: a file with one is refused before it is
 * parsed. */
#include "config.h"

#include <string.h>

#include "fuzz/fuzz.h"
#include "text/layer_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct aps_errors errors;
    struct aps_layers *layers = NULL;

    size = strnlen((const char *)data, size);
    errors.count = errors.warning_count = 0;
    if (aps_layers_parse("table", (const char *)data, size, &layers, &errors) ==
        0) {
        for (size_t i = 0; i < layers->count; i++)
            fuzz_require(layers->list[i].count > 0 && layers->list[i].name[0],
                         "row %zu has no count or no name", i);
        aps_layers_destroy(layers);
    } else {
        fuzz_require(errors.count > 0, "a table is refused without a cause");
    }
    return 0;
}
