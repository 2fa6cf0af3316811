/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in's steps with elements of other types than FP32: by the kernel's code. */
#include "config.h"

#include <stdlib.h>

#include "cuda/convert.h"
#include "plugin_state.h"

static void elements_convert(enum aps_element element, bool narrow,
                             const void *from, size_t n, void *to)
{
    const struct aps_convert_work w =
        aps_convert_work_init(element, narrow, from, n, to);

    for (uint32_t i = 0; i < n; i++)
        aps_convert_element(&w, i);
}

int plugin_elements(enum aps_element element, struct aps_device_step *step,
                    struct aps_encode_stats *stats)
{
    void *x = plugin_driver.alias(step->x);
    float *values;

    if (!x || !plugin_driver.may_copy())
        return -1;
    values = malloc(step->n * sizeof *values);
    if (!values)
        return -1;
    elements_convert(element, false, x, step->n, values);
    if (step->verb == APS_DEVICE_MAGNITUDE)
        step->magnitude = aps_magnitude_of(values, step->n);
    if (step->verb == APS_DEVICE_ENCODE) {
        atomic_fetch_add(&plugin_done.to_host, 1);
        step->flags =
            aps_memory_host.encode(step->codec, values, step->n, step->scaling,
                                   &step->options, step->wire, stats);
    }
    if (step->verb == APS_DEVICE_DECODE) {
        step->codec->decode(step->codec, step->wire, step->n, step->scaling,
                            step->flags, values);
        elements_convert(element, true, values, step->n, x);
    }
    free(values);
    return 0;
}
