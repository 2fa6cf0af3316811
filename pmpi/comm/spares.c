/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/spares.h"

#include <stdlib.h>

struct aps_spare *aps_spares_lend(struct aps_spare **spares, size_t count)
{
    struct aps_spare *spare = *spares;

    while (spare && (spare->lent || spare->count != count))
        spare = spare->next;
    if (!spare) {
        spare = malloc(sizeof *spare);
        if (!spare)
            return NULL;
        *spare = (struct aps_spare){.next = *spares, .count = count};
        spare->floats = malloc(count * sizeof *spare->floats);
        if (!spare->floats) {
            free(spare);
            return NULL;
        }
        *spares = spare;
    }
    spare->lent = true;
    return spare;
}

void aps_spares_clear(struct aps_spare **spares)
{
    while (*spares) {
        struct aps_spare *spare = *spares;

        *spares = spare->next;
        free(spare->floats);
        free(spare);
    }
}
