/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "aps.h"

int aps_version(void)
{
    return APS_VERSION;
}

const char *aps_version_string(void)
{
    return APS_VERSION_STRING;
}
