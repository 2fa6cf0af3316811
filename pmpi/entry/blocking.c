/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that replace MPI's blocking functions (blocking_table.h);
 * waiting/blocking.h states the reason. The compiler compares each function with
 * the declaration in mpi.h.
 *
 * If the program runs with an MPI that the library was not built for, no
 * request of the library is pending, and the calls reach MPI unchanged.
 */
#include "config.h"

#include <stdatomic.h>

#include "waiting/blocking.h"
#include "waiting/completion.h"
#include "comm/comm_queue.h"
#include "entry/export.h"
#include "native/next_mpi.h"
#include "queue/queue.h"

/* Declares MPI's function `name`, as `function`. */
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
        aps_queue_poll();                                                      \
        if (aps_completion_is_ours(count, first))                              \
            return instead;                                                    \
        NEXT(name);                                                            \
        return function arguments;                                             \
    }

#define LOOK(name, parameters, arguments)                                      \
    EXPORT int MPI_##name parameters                                           \
    {                                                                          \
        aps_queue_poll();                                                      \
        NEXT(name);                                                            \
        return function arguments;                                             \
    }

/* Defines MPI_<name>, which blocks on the communicator `on`; MPI_COMM_NULL: on
 * something else. */
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
