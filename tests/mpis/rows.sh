# SPDX-License-Identifier: BSD-3-Clause
# The MPIs of make check-mpis and bench-mpis, which are in $mpis: how to compile and
# start with each.
#
# shellcheck shell=sh disable=SC2034,SC2154 # of the scripts that read this file

# row NAME: sets $abi, $compiler, $launcher, $fortran and $package, and $reason: why the
# MPI cannot be used, or nothing. Installs an MPI of Python packages. Exports what its
# programs need, so that a row has a subshell.
row()
{
    package=${1%-abi}
    abi=mpich compiler=$mpis/$package/bin/mpicc fortran=
    launcher=$mpis/$package/bin/mpiexec
    case $1 in
    mpich-debian | openmpi-debian)
        package='' abi=${1%-debian}
        compiler=mpicc.$abi launcher=mpiexec.$abi fortran=mpif90.$abi
        ;;
    mpich-5-abi) abi=abi compiler=${compiler}_abi ;;
    intel) fortran=$mpis/intel/bin/mpif90 ;;
    intel-abi) abi=abi compiler="$compiler -mpi-abi" ;;
    openmpi-5) abi=openmpi ;;
    mpich-*) ;;
    *) echo "rows.sh: unknown MPI '$1'" >&2; exit 2 ;;
    esac
    build=$top_builddir
    [ "$abi" = mpich ] || build=$top_builddir/$abi
    reason=
    [ -z "$package" ] ||
        reason=$(sh "$top_srcdir/tests/mpis/setup.sh" "$mpis" "$package")
    [ -e "$build/.libs/libapsmpi.so" ] || reason="there is no library in $build"
    command -v "${compiler%% *}" >/dev/null || reason=${reason:-there is no $compiler}
    case $1 in
    intel*)
        I_MPI_ROOT=$mpis/intel I_MPI_FABRICS=shm
        LD_LIBRARY_PATH=$mpis/intel/lib
        export I_MPI_ROOT I_MPI_FABRICS LD_LIBRARY_PATH
        ;;
    openmpi-5)
        PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
        export PRTE_MCA_rmaps_default_mapping_policy
        ;;
    esac
}
