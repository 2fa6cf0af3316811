# SPDX-License-Identifier: BSD-3-Clause
# APS_CHECK_MPI: find the MPI that the library is built for: MPICH, Open MPI or any
# with the standard's ABI, by its compiler wrapper and the launcher beside it.
# Sets MPICC, MPIEXEC, MPI (mpich, openmpi or abi), MPI_CFLAGS and MPI_LIBS, and
# says in config.h which one it is and what it has.
AC_DEFUN([APS_CHECK_MPI], [
AC_ARG_WITH([mpi],
    [AS_HELP_STRING([--with-mpi=mpich|openmpi|abi],
        [the MPI to build for, or the ABI of the MPI standard (default: MPICH if
         there is one)])],
    [], [with_mpi=any])
AC_ARG_VAR([MPICC], [the MPI's compiler wrapper (default: mpicc.mpich, mpicc, mpicc.openmpi)])
AC_ARG_VAR([MPIEXEC], [the MPI's launcher (default: the one beside MPICC)])
for aps_name in MPICC MPIEXEC; do
    eval aps_value=\$$aps_name
    AS_CASE([$aps_value], [""|/*], [continue])
    aps_path=`command -v "$aps_value"` ||
        AC_MSG_ERROR([$aps_name=$aps_value: no such command])
    eval $aps_name=\$aps_path
done
AS_CASE([$with_mpi],
    [mpich], [AC_PATH_PROGS([MPICC], [mpicc.mpich mpicc])],
    [openmpi], [AC_PATH_PROGS([MPICC], [mpicc.openmpi mpicc])],
    [abi], [AC_PATH_PROGS([MPICC], [mpicc_abi])],
    [any], [AC_PATH_PROGS([MPICC], [mpicc.mpich mpicc mpicc.openmpi])],
    [AC_MSG_ERROR([--with-mpi=$with_mpi: expected mpich, openmpi or abi])])
aps_mpi_packages="MPICH (Debian: mpich libmpich-dev) or Open MPI (Debian: openmpi-bin libopenmpi-dev)"
AS_CASE([$with_mpi],
    [mpich], [aps_mpi_packages="MPICH (Debian: mpich libmpich-dev)"],
    [openmpi], [aps_mpi_packages="Open MPI (Debian: openmpi-bin libopenmpi-dev)"],
    [abi], [aps_mpi_packages="MPICH 5 (Python: mpich)"])
AS_IF([test -z "$MPICC"],
    [AC_MSG_ERROR([no MPI compiler wrapper found: install $aps_mpi_packages or set MPICC])])

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

# The mpi.h of the standard's ABI has MPI_ABI_VERSION; Open MPI's has OPEN_MPI;
# MPICH's and its relatives' MPICH_NUMVERSION.
AC_MSG_CHECKING([which MPI is behind $MPICC])
MPI=
aps_macros=`echo '#include <mpi.h>' | $CC $CPPFLAGS -E -dM - 2>/dev/null`
AS_CASE([$aps_macros],
    [*" MPI_ABI_VERSION "*],
        [MPI=abi
         aps_mpi_name="MPI ABI"
         aps_mpi_macro=MPI_ABI_VERSION.MPI_ABI_SUBVERSION
         AC_DEFINE([APS_MPI_ABI], [1], [Built for the standard's ABI.])],
    [*" MPICH_NUMVERSION "*],
        [MPI=mpich
         aps_mpi_name=MPICH
         aps_mpi_macro=MPICH_VERSION
         AC_DEFINE([APS_MPI_MPICH], [1], [Built for MPICH's ABI.])],
    [*" OPEN_MPI "*],
        [MPI=openmpi
         aps_mpi_name="Open MPI"
         aps_mpi_macro=OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION
         AC_DEFINE([APS_MPI_OPENMPI], [1], [Built for Open MPI's ABI.])])
AS_IF([test -z "$MPI"],
    [AC_MSG_RESULT([unknown])
     AC_MSG_ERROR([$MPICC compiles with the mpi.h of neither MPICH nor Open MPI nor the standard's ABI: install $aps_mpi_packages or set MPICC])])
aps_mpi_version=`printf '#include <mpi.h>\n%s\n' $aps_mpi_macro |
    $CC $CPPFLAGS -E - 2>/dev/null | tail -n 1 | tr -d '" '`
aps_mpi_version="$aps_mpi_name $aps_mpi_version"
AC_MSG_RESULT([$aps_mpi_version])
AC_DEFINE_UNQUOTED([APS_MPI_VERSION], ["$aps_mpi_version"],
    [The MPI of the build, with its version.])
AS_IF([test "x$with_mpi" != xany && test "x$with_mpi" != "x$MPI"],
    [AC_MSG_ERROR([--with-mpi=$with_mpi, but $MPICC is the wrapper of $aps_mpi_version: install $aps_mpi_packages or set MPICC])])
AC_SUBST([MPI])
AM_CONDITIONAL([MPI_MPICH], [test "x$MPI" = xmpich])
AM_CONDITIONAL([MPI_OPENMPI], [test "x$MPI" = xopenmpi])

# The launcher of another MPI would start as many jobs of one rank each.
AS_CASE([$MPICC],
    [*.mpich|*.openmpi], [aps_launchers="mpiexec.$MPI mpiexec"],
    [aps_launchers="mpiexec mpiexec.$MPI"])
AC_PATH_PROGS([MPIEXEC], [$aps_launchers], [],
    [`AS_DIRNAME(["$MPICC"])`$PATH_SEPARATOR$PATH])
AS_IF([test -z "$MPIEXEC"],
    [AC_MSG_ERROR([no launcher (mpiexec) found for $MPICC: install $aps_mpi_packages or set MPIEXEC])])
AC_MSG_CHECKING([whether $MPIEXEC is the launcher of $MPICC])
AS_CASE([`$MPIEXEC --version 2>&1`],
    [*"Open MPI"*|*OpenRTE*], [aps_launcher=openmpi],
    [aps_launcher=mpich])
AS_IF([test $aps_launcher = $MPI || test $MPI = abi],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$MPICC belongs to $aps_mpi_version, but $MPIEXEC does not: set MPIEXEC])])

# Large-count variants of all collectives come together.
AC_CHECK_FUNCS([PMPI_Allreduce_c PMPI_Allreduce_init PMPI_Isend_c PMPI_Comm_create_from_group PMPI_Comm_idup_with_info PMPI_Session_init PMPI_Type_get_contents_c PMPIX_Grequest_start])
CPPFLAGS=$aps_save_CPPFLAGS
LIBS=$aps_save_LIBS
])
