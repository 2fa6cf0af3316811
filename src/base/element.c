/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/element.h"

#include <string.h>

const struct aps_element_type aps_element_types[APS_ELEMENTS + 1] = {
    [APS_ELEMENT_FLOAT] = {"float", 4, NULL},
    [APS_ELEMENT_BF16] = {"bf16", 2, "bf16"},
    [APS_ELEMENT_FP16] = {"fp16", 2, "fp16"},
    [APS_ELEMENT_DOUBLE] = {"double", 8, NULL},
    [APS_ELEMENT_NONE] = {"other", 0, NULL},
};

enum aps_element aps_element_find(const char *name)
{
    int i = 0;

    while (i < APS_ELEMENTS && strcmp(name, aps_element_types[i].name) != 0)
        i++;
    return (enum aps_element)i;
}
