/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions that fail to begin or to end, by mpi_f08's functions with and
 * without an error argument (preload_after.c), and a session that does neither:
 * when it ends, the last session has ended.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#include "mpitap.h"

#if MPI_VERSION >= 4
static float x[2048];

int main(void)
{
    void (*begin)(void *, void *, void *, void *) = NULL;
    void (*end)(void *, void *) = NULL;
    int words[3] = {0}, errors[2] = {MPI_SUCCESS, MPI_SUCCESS};
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, status;

    *(void **)&begin = dlsym(RTLD_DEFAULT, "mpi_session_init_f08_");
    *(void **)&end = dlsym(RTLD_DEFAULT, "mpi_session_finalize_f08_");
    if (!begin || !end)
        plan_skip_all("the library has no mpi_f08");
    begin(&words[0], &words[1], &words[2], &errors[0]);
    begin(&words[0], &words[1], &words[2], NULL);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    end(&words[2], &errors[1]);
    end(&words[2], NULL);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "tests", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                               &comm);
    MPI_Group_free(&group);
    mpitap_begin_on(comm);
    ok_all(errors[0] == MPI_ERR_OTHER, "a session does not begin");
    ok_all(errors[1] == MPI_ERR_OTHER, "a session does not end");
    ok_all(MPI_Allreduce(MPI_IN_PLACE, x, 2048, MPI_FLOAT, MPI_SUM, comm) ==
               MPI_SUCCESS,
           "a sum in another session");
    rank = mpitap_rank();
    status = mpitap_end();
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    if (rank == 0) /* rank 0 prints the summary, too */
        fprintf(stderr, "# the session has ended\n");
    return status;
}
#else
int main(void)
{
    plan_skip_all("MPI has no sessions");
}
#endif
