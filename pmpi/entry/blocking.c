/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that replace MPI's blocking ones (blocking_table.h):
 * call/blocking.h says why. The compiler compares each function with mpi.h's.
 *
 * An MPI that the library was not built for never has anything under way, so that
 * its calls go on untouched.
 */
#include "config.h"

#include <stdatomic.h>

#include "call/blocking.h"
#include "call/completion.h"
#include "entry/export.h"
#include "native/next_mpi.h"
#include "queue/queue.h"

/* MPI's function `name`, as `function`. */
#define NEXT(name)                                                             \
    static void *_Atomic next;                                                 \
    __typeof__(&MPI_##name) function;                                          \
    aps_next_mpi_function(&next, "MPI_" #name, &function)

#define BLOCKING(name, parameters, arguments, instead)                         \
    EXPORT int MPI_##name parameters                                           \
    {                                                                          \
        if (aps_queue_pending())                                               \
            return instead;                                                    \
        NEXT(name);                                                            \
        return function arguments;                                             \
    }

#define COMPLETION(name, parameters, arguments, count, first, instead)         \
    EXPORT int MPI_##name parameters                                           \
    {                                                                          \
        aps_queue_drive();                                                     \
        if (aps_completion_is_ours(count, first))                              \
            return instead;                                                    \
        NEXT(name);                                                            \
        return function arguments;                                             \
    }

#define LOOK(name, parameters, arguments)                                      \
    EXPORT int MPI_##name parameters                                           \
    {                                                                          \
        aps_queue_drive();                                                     \
        NEXT(name);                                                            \
        return function arguments;                                             \
    }

/* MPI_<name>, which blocks on the communicator `on`, or on something else. */
#define PASS(name, parameters, arguments, on)                                  \
    EXPORT int MPI_##name parameters                                           \
    {                                                                          \
        NEXT(name);                                                            \
        const bool helped = aps_blocking_enter(on);                            \
        const int rc = function arguments;                                     \
        aps_blocking_leave(helped);                                            \
        return rc;                                                             \
    }
#define WHOLE(name, parameters, arguments)                                     \
    PASS(name, parameters, arguments, MPI_COMM_NULL)
#define COLLECTIVE(name, parameters, arguments)                                \
    PASS(name, parameters, arguments, comm)

#include "entry/blocking_table.h"
