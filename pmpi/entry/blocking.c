/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that replace MPI's blocking ones (blocking_table.h):
 * call/blocking.h says why. As in allreduce.c handles are registers, and an MPI
 * that the library does not know never has anything under way, so that its
 * calls go on untouched.
 */
#include "config.h"

#include <stdatomic.h>

#include "call/blocking.h"
#include "call/completion.h"
#include "entry/arguments.h"
#include "entry/export.h"
#include "queue/queue.h"

/* MPI's function `name`, as `function`. */
#define NEXT(name, parameters)                                                 \
    static void *_Atomic next;                                                 \
    int(*function) parameters;                                                 \
    aps_next_mpi_function(&next, "MPI_" #name, &function)

#define BLOCKING(name, parameters, arguments, instead)                         \
    EXPORT int MPI_##name parameters;                                          \
    int MPI_##name parameters                                                  \
    {                                                                          \
        if (aps_queue_pending())                                               \
            return instead;                                                    \
        NEXT(name, parameters);                                                \
        return function arguments;                                             \
    }

#define COMPLETION(name, parameters, arguments, count, first, instead)         \
    EXPORT int MPI_##name parameters;                                          \
    int MPI_##name parameters                                                  \
    {                                                                          \
        aps_queue_drive();                                                     \
        if (aps_completion_is_ours(count, first))                              \
            return instead;                                                    \
        NEXT(name, parameters);                                                \
        return function arguments;                                             \
    }

#define LOOK(name, parameters, arguments)                                      \
    EXPORT int MPI_##name parameters;                                          \
    int MPI_##name parameters                                                  \
    {                                                                          \
        aps_queue_drive();                                                     \
        NEXT(name, parameters);                                                \
        return function arguments;                                             \
    }

/* MPI_<name> as the function `as`; it blocks on a communicator or on something
 * else (0). */
#define PASS(as, name, parameters, arguments, on)                              \
    int as parameters                                                          \
    {                                                                          \
        NEXT(name, parameters);                                                \
        const bool helped = aps_blocking_enter(on);                            \
        const int rc = function arguments;                                     \
        aps_blocking_leave(helped);                                            \
        return rc;                                                             \
    }
#define WHOLE(name, parameters, arguments)                                     \
    EXPORT int MPI_##name parameters;                                          \
    PASS(MPI_##name, name, parameters, arguments, 0)
#define COLLECTIVE(name, parameters, arguments)                                \
    EXPORT int MPI_##name parameters;                                          \
    PASS(MPI_##name, name, parameters, arguments, comm)

#include "entry/blocking_table.h"
