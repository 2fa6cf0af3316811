/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "next.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

/* C does not convert between pointers to functions and to data: copy. */
static aps_next_fn function(void *symbol)
{
    aps_next_fn result = NULL;

    if (symbol)
        memcpy(&result, &symbol, sizeof symbol);
    return result;
}

/* Searches from the object that contains the caller. */
static aps_next_fn find_from(const void *caller, const char *name)
{
    Dl_info info;
    void *object;

    if (!dladdr(caller, &info) || !info.dli_fname)
        return NULL;
    object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!object)
        return NULL;
    /* Not closed: the function is called until the process ends. */
    return function(dlsym(object, name));
}

aps_next_fn aps_next_find(const char *name, aps_next_fn self,
                          const void *caller)
{
    aps_next_fn next = function(dlsym(RTLD_NEXT, name));

    if (!next)
        next = find_from(caller, name);
    if (!next || next == self) {
        aps_message(-1,
                    "the program calls %s, which no BLAS library after "
                    "libapsgemm.so has: the program is aborted",
                    name);
        abort();
    }
    return next;
}
