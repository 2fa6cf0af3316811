/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block/magnitude_batch.h"

#include <stdint.h>

#include "codec/divided.h"

/* Measures the first arrays, as many as share a wait. `count` is at least 1.
 * Returns their number. */
static size_t measure_some(struct aps_magnitude_query queries[], size_t count)
{
    const struct aps_memory *memory = queries[0].memory;
    struct aps_device_step steps[APS_MAGNITUDES_TOGETHER];
    size_t n = 0;

    if (!memory->run) {
        queries[0].magnitude =
            aps_divided_magnitude(memory, queries[0].x, queries[0].n);
        return 1;
    }
    while (n < count && n < APS_MAGNITUDES_TOGETHER &&
           queries[n].memory == memory) {
        steps[n] = (struct aps_device_step){
            .verb = APS_DEVICE_MAGNITUDE,
            .x = (float *)(uintptr_t)queries[n].x,
            .n = queries[n].n,
        };
        n++;
    }
    memory->run(steps, n);
    for (size_t i = 0; i < n; i++)
        queries[i].magnitude = steps[i].magnitude;
    return n;
}

void aps_magnitude_queries_run(struct aps_magnitude_query queries[],
                               size_t count)
{
    for (size_t i = 0; i < count;)
        i += measure_some(&queries[i], count - i);
}
