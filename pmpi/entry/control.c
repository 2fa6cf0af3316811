/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that replace MPI_Pcontrol and the functions that begin and end MPI.
 */
#include "config.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>

#include "entry/export.h"
#include "job/job.h"
#include "job/thread_level.h"
#include "native/next_mpi.h"
#include "world/lifecycle.h"
#include "world/pcontrol.h"
#include "world/sessions.h"

EXPORT int MPI_Init(int *argc, char ***argv)
{
    const struct aps_next_mpi *next = aps_next_mpi();
    const int level = aps_thread_level_raise(MPI_THREAD_SINGLE);
    int provided;
    const int rc = level == MPI_THREAD_SINGLE
                       ? next->Init(argc, argv)
                       : next->Init_thread(argc, argv, level, &provided);

    if (rc == 0)
        aps_lifecycle_begin(MPI_THREAD_SINGLE);
    return rc;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const int rc = aps_next_mpi()->Init_thread(
        argc, argv, aps_thread_level_raise(required), provided);

    if (rc == 0 && !aps_job()->foreign) {
        *provided = aps_thread_level_shown(*provided);
        aps_lifecycle_begin(required);
    }
    return rc;
}

EXPORT int MPI_Query_thread(int *provided)
{
    const int rc = aps_next_mpi()->Query_thread(provided);

    if (rc == 0 && !aps_job()->foreign)
        *provided = aps_thread_level_shown(*provided);
    return rc;
}

/* Passes the other arguments on, which the next library may know, as five
 * words. All of them are in registers, whether the program gave them or not. */
EXPORT int MPI_Pcontrol(const int level, ...)
{
    void *words[5];
    va_list args;

    va_start(args, level);
    for (int i = 0; i < 5; i++)
        words[i] = va_arg(args, void *);
    va_end(args);
    /* The program may call it at any time. */
    if (aps_lifecycle_has_world() && !aps_job()->foreign)
        aps_pcontrol(level);
    return aps_next_mpi()->Pcontrol(level, words[0], words[1], words[2],
                                    words[3], words[4]);
}

EXPORT int MPI_Finalize(void)
{
    const struct aps_next_mpi *next = aps_next_mpi();

    aps_lifecycle_finish();
    return next->Finalize();
}

#ifdef HAVE_PMPI_SESSION_INIT
EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler handler,
                            MPI_Session *session)
{
    const int rc = aps_next_mpi()->Session_init(info, handler, session);

    if (rc == MPI_SUCCESS)
        aps_sessions_begin();
    return rc;
}

EXPORT int MPI_Session_finalize(MPI_Session *session)
{
    const struct aps_next_mpi *next = aps_next_mpi();
    int rc;

    aps_sessions_end();
    rc = next->Session_finalize(session);
    if (rc != MPI_SUCCESS) /* the session continues */
        aps_sessions_begin();
    return rc;
}
#endif
