/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "layer/scratch_pool.h"

#include <stdlib.h>

struct aps_scratch_array *
aps_scratch_pool_take(struct aps_scratch_array **spares, size_t count)
{
    struct aps_scratch_array *spare = *spares;

    while (spare && (spare->in_use || spare->count != count))
        spare = spare->next;
    if (!spare) {
        spare = malloc(sizeof *spare);
        if (!spare)
            return NULL;
        *spare = (struct aps_scratch_array){.next = *spares, .count = count};
        spare->floats = malloc(count * sizeof *spare->floats);
        if (!spare->floats) {
            free(spare);
            return NULL;
        }
        *spares = spare;
    }
    spare->in_use = true;
    return spare;
}

void aps_scratch_pool_clear(struct aps_scratch_array **spares)
{
    while (*spares) {
        struct aps_scratch_array *spare = *spares;

        *spares = spare->next;
        free(spare->floats);
        free(spare);
    }
}
