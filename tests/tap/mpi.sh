# SPDX-License-Identifier: BSD-3-Clause
# Starts MPI jobs for the tests, with the MPI that the tree was built for: sourced by
# tests/mpi/run.sh and tests/e2e/lib.sh, which set $top_srcdir and $top_builddir. Sets
#
#   $MPI          mpich, openmpi or abi (with the launcher of MPICH)
#   $launch       the command that starts a job, with the arguments of MPICH's
#                 mpiexec (launch.sh); unquoted: two words
#   $launched_as  the rank, for a shell that the launcher starts to expand
#
# shellcheck shell=sh disable=SC2034,SC2154 # of those who source it

MPI=${MPI:-$(sed -n 's/^MPI = //p' "$top_builddir/Makefile")}
MPIEXEC=${MPIEXEC:-$(sed -n 's/^MPIEXEC = //p' "$top_builddir/Makefile")}
export MPI MPIEXEC
launch="sh $top_srcdir/tests/tap/launch.sh"
# shellcheck disable=SC2016 # for other shells
launched_as='${PMI_RANK-$OMPI_COMM_WORLD_RANK}'

# Only Open MPI reads these variables: more ranks than cores, none bound to one,
# waits that yield; only shared memory, without a search for networks; as root
# in a container; no message of its own when a program fails.
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_hwloc_base_binding_policy=none
OMPI_MCA_mpi_yield_when_idle=1
OMPI_MCA_pml=ob1
OMPI_MCA_btl=self,vader
OMPI_MCA_orte_execute_quiet=1
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_hwloc_base_binding_policy \
    OMPI_MCA_mpi_yield_when_idle OMPI_MCA_pml OMPI_MCA_btl \
    OMPI_MCA_orte_execute_quiet OMPI_ALLOW_RUN_AS_ROOT \
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

# yield_when_idle: from here on ranks of MPICH that wait yield their core, too. MPICH
# has no parameter for it; yield.c does it. Benches measure MPICH unchanged.
yield_when_idle()
{
    APS_TEST_YIELD=$top_builddir/tests/tap/.libs/yield.so
    if [ "$MPI" != openmpi ] && [ -e "$APS_TEST_YIELD" ]; then
        export APS_TEST_YIELD
    else
        unset APS_TEST_YIELD
    fi
}
