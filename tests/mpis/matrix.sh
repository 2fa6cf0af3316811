#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make check-mpis: the libraries of this build, for the MPIs below. Each MPI compiles
# the programs of a short list of tests, which one.sh runs. Writes mpis/table.csv in the
# build directory, and prints it and automake's totals. MPIS names some of the rows;
# those that cannot be installed are skipped, with the reason.
set -u
unset LD_LIBRARY_PATH

mpis=$top_builddir/mpis
apsmpi_run=$top_builddir/scripts/apsmpi-run
tap=$top_srcdir/tests/tap
PYTHON3=${PYTHON3:-python3}
export top_srcdir apsmpi_run PYTHON3
. "$top_srcdir/tests/mpis/rows.sh"

# compiled FOLDER BUILD: true if this MPI compiles the programs into the folder
compiled()
{
    to=$1/tests/mpi
    set -- -std=gnu11 -O1 -w -I"$2" -I"$2/src" -I"$top_srcdir/src" -I"$top_srcdir" \
        -I"$tap" -I"$top_srcdir/pmpi"
    common="$tap/tap.c $tap/mpitap.c"
    for name in calls reference rounding reduction_spec; do
        common="$common $top_srcdir/tests/mpi/$name.c"
    done
    for name in exact nonblocking persistent other_collectives; do
        more=
        case $name in
        persistent)
            grep -q '^#define HAVE_PMPI_ALLREDUCE_INIT' "$build/config.h" || continue
            ;;
        other_collectives)
            more="$top_srcdir/tests/mpi/other_collectives_calls.c
                $top_srcdir/tests/mpi/reference_blocks.c
                $top_builddir/.libs/libaps.so -Wl,-rpath,$top_builddir/.libs"
            ;;
        esac
        # shellcheck disable=SC2086 # lists of words
        $compiler "$@" -o "$to/$name" "$top_srcdir/tests/mpi/$name.c" $more $common \
            -lm -lpthread -ldl || return
    done
    $compiler "$@" -o "$to/probe" "$top_srcdir/tests/e2e/probe.c" -lpthread || return
    [ "$fortran" ] || return 0
    # Debian's Fortran wrappers link the machine's default MPI.
    # shellcheck disable=SC2046 # options
    $fortran -std=legacy -w -o "$to/sums" "$top_srcdir/tests/e2e/sums_mpif.f90" \
        $($compiler -show | tr ' ' '\n' | grep '^-L') || rm -f "$to/sums"
}

# tested NAME: tests one MPI, and prints its row of the table
tested()
{
    row "$1"
    folder=$mpis/$1.tests
    rm -rf "$folder"
    mkdir -p "$folder/tests/mpi" "$folder/tests/tap" "$folder/.libs"
    if [ "$reason" ]; then
        echo "$1,,0,0,all ($reason)"
        return
    fi
    I_MPI_THREAD_YIELD=3
    export I_MPI_THREAD_YIELD
    ln -s "$build/.libs/libapsmpi.so" "$folder/.libs"
    ln -s "$top_builddir/tests/tap/.libs" "$folder/tests/tap"
    cp "$build/config.h" "$folder"
    if ! compiled "$folder" "$build" >"$folder/compile.log" 2>&1; then
        echo "$1,,0,1,0 ($folder/compile.log)"
        return
    fi
    benchmarks=
    [ "$1" != intel ] || benchmarks=$mpis/intel/bin
    export benchmarks
    MPI=$abi MPIEXEC=$launcher top_builddir=$folder \
        sh "$top_srcdir/tests/mpis/one.sh" >"$folder/log" 2>&1
    version=$(MPI=$abi MPIEXEC=$launcher top_builddir=$folder sh -c ". '$tap/mpi.sh'
        timeout 60 \$launch -n 1 '$folder/tests/mpi/probe' version" </dev/null 2>&1 |
        sed -n '1s/[,\t ][,\t ]*/ /gp')
    echo "$1,$version,$(grep -c '^ok' "$folder/log"),$(grep -c '^not ok' \
        "$folder/log"),$(grep -c '^ok.* # SKIP' "$folder/log")"
}

mkdir -p "$mpis"
echo 'MPI,version,passed,failed,skipped' >"$mpis/table.csv"
for mpi in ${MPIS:-mpich-debian mpich-4 mpich-5 mpich-5-abi intel intel-abi \
    openmpi-debian openmpi-5}; do
    (tested "$mpi") | tee -a "$mpis/table.csv"
    grep '^not ok' "$mpis/$mpi.tests/log" 2>/dev/null | sed "s/^/# $mpi: /"
done
awk -F, 'NR > 1 { passed += $3; failed += $4; skipped += $5 ~ /^all/ ? 1 : $5 }
    END { print "# PASS:  " passed - skipped "\n# SKIP:  " skipped "\n# FAIL:  " failed
          exit failed > 0 }' "$mpis/table.csv"
