# SPDX-License-Identifier: BSD-3-Clause
# APS_CHECK_MPICH: find MPICH's compiler wrapper and launcher.
# Sets MPICC, MPIEXEC, MPI_CFLAGS, MPI_LIBS and HAVE_MPI_ALLREDUCE_C.
AC_DEFUN([APS_CHECK_MPICH], [
AC_ARG_VAR([MPICC], [MPICH's compiler wrapper (default: mpicc.mpich or mpicc)])
AC_ARG_VAR([MPIEXEC], [the launcher (default: mpiexec.mpich or mpiexec)])
AC_PATH_PROGS([MPICC], [mpicc.mpich mpicc])
AC_PATH_PROGS([MPIEXEC], [mpiexec.mpich mpiexec])
AS_IF([test -z "$MPICC" || test -z "$MPIEXEC"],
    [AC_MSG_ERROR([no MPI compiler wrapper or launcher found: install MPICH (Debian: mpich libmpich-dev) or set MPICC and MPIEXEC])])
for aps_flag in `$MPICC -show | cut -d' ' -f2-`; do
    AS_CASE([$aps_flag],
        [-I*|-D*], [MPI_CFLAGS="$MPI_CFLAGS $aps_flag"],
        [-Wl,-z,*], [],
        [-L*|-l*|-Wl,*], [MPI_LIBS="$MPI_LIBS $aps_flag"])
done
AC_SUBST([MPI_CFLAGS])
AC_SUBST([MPI_LIBS])
aps_save_CPPFLAGS=$CPPFLAGS
aps_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $MPI_CFLAGS"
LIBS="$MPI_LIBS $LIBS"
AC_MSG_CHECKING([for MPICH behind $MPICC])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#ifndef MPICH_NUMVERSION
#error not MPICH
#endif]])],
    [aps_mpi_version=`printf '#include <mpi.h>\nMPICH_VERSION\n' |
        $CC $CPPFLAGS -E - 2>/dev/null | tail -n 1 | tr -d '"'`
     AC_MSG_RESULT([$aps_mpi_version])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$MPICC is not MPICH's wrapper: set MPICC])])
AC_CHECK_FUNCS([PMPI_Allreduce_c PMPI_Iallreduce_c PMPI_Allreduce_init PMPI_Isend_c PMPI_Isendrecv_replace PMPIX_Grequest_start])
AC_CHECK_FUNCS([PMPI_Reduce_scatter_block_c PMPI_Reduce_scatter_c])
AC_CHECK_FUNCS([PMPI_Allgather_c PMPI_Reduce_c PMPI_Type_get_contents_c])
CPPFLAGS=$aps_save_CPPFLAGS
LIBS=$aps_save_LIBS
])
