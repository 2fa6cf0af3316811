/* SPDX-License-Identifier: BSD-3-Clause */
/* A host without hwloc: dlopen finds no file of that name. */
#include <dlfcn.h>
#include <string.h>

void *dlopen(const char *file, int mode)
{
    void *(*next)(const char *, int);
    void *symbol = dlsym(RTLD_NEXT, "dlopen");

    memcpy(&next, &symbol, sizeof next);
    return file && strstr(file, "libhwloc") ? NULL : next(file, mode);
}
