# SPDX-License-Identifier: BSD-3-Clause
# APS_CHECK_SIMGRID: find SimGrid's MPI, for the simulated clusters of tests/sim.
# Sets SMPICC and SMPIRUN, and have_simgrid to yes or to the reason why not.
AC_DEFUN([APS_CHECK_SIMGRID], [
AC_ARG_VAR([SMPICC], [SimGrid's MPI compiler wrapper (default: smpicc)])
AC_ARG_VAR([SMPIRUN], [SimGrid's launcher (default: smpirun)])
AC_PATH_PROGS([SMPICC], [smpicc])
AC_PATH_PROGS([SMPIRUN], [smpirun])
AS_IF([test -z "$SMPICC" || test -z "$SMPIRUN"],
    [have_simgrid="smpicc and smpirun were not found"],
    [test "x$enable_sanitizers" != xno],
    [have_simgrid="the sanitizers cannot follow the stacks of the simulator"],
    [AC_MSG_CHECKING([whether $SMPICC links MPI's PMPI names])
     aps_save_CC=$CC
     CC=$SMPICC
     AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#include <simgrid/cond.h>
#include <simgrid/host.h>]],
         [[PMPI_Barrier(MPI_COMM_WORLD);
sg_cond_notify_all(sg_host_get_data(sg_host_self()));
smpi_execute_flops(1);]])],
         [have_simgrid=yes],
         [have_simgrid="$SMPICC does not work"])
     CC=$aps_save_CC
     AC_MSG_RESULT([$have_simgrid])])
SIMGRID_SKIP=
AS_IF([test "x$have_simgrid" != xyes], [SIMGRID_SKIP=$have_simgrid])
AC_SUBST([SIMGRID_SKIP])
AM_CONDITIONAL([HAVE_SIMGRID], [test "x$have_simgrid" = xyes])
])
