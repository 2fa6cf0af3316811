/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/element.h"

#include <string.h>

#define TYPE(ELEMENT, ...) {__VA_ARGS__},

/* In the order of the enum. */
const struct aps_element_type aps_element_types[APS_ELEMENTS + 1] = {
    APS_ELEMENT_ROWS(TYPE) /* and APS_ELEMENT_NONE */
    {"other", 0, NULL},
};

enum aps_element aps_element_find(const char *name)
{
    int i = 0;

    while (i < APS_ELEMENTS && strcmp(name, aps_element_types[i].name) != 0)
        i++;
    return (enum aps_element)i;
}
