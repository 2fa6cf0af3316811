#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The prototypes of pmpi/entry/ are those of mpi.h, of every MPI that is
# installed here, and a table with another argument does not compile.
. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

entry=$top_srcdir/pmpi/entry
mkdir -p entry include
cp "$entry"/*.h "$entry/prototypes.c" entry
names=$(sed -n 's/^#if.*HAVE_PMPI_\([A-Z_]*\).*/\1/p' entry/*.h | sort -u)

# look COMPILER: what configure would say of that MPI
look()
{
    for name in $names; do
        first=${name%"${name#?}"}
        rest=$(echo "${name#?}" | tr '[:upper:]' '[:lower:]')
        printf '#include <mpi.h>\nvoid *p = (void *)PMPI_%s%s;\n' "$first" "$rest" \
            >probe.c
        ! "$1" -Werror -c -o probe.o probe.c 2>/dev/null ||
            echo "#define HAVE_PMPI_$name 1"
    done
}

# compile COMPILER: the comparison, in $tmp
compile()
{
    "$1" -std=gnu11 -Werror -Iinclude -I. -I"$top_srcdir/pmpi" \
        -I"$top_srcdir/src" -c -o prototypes.o entry/prototypes.c 2>errors
}

# differs COMPILER FUNCTION FILE SED: with that change it does not compile, and
# names the function
differs()
{
    sed "$4" "$entry/$3" >"entry/$3"
    ! compile "$1" && grep -q "MPI_$2 otherwise" errors
    check $? "$1: another $2 is found"
    cmp -s "$entry/$3" "entry/$3" && echo "# the change of $2 changes nothing"
    cp "$entry/$3" "entry/$3"
}

compilers=
for compiler in mpicc.mpich mpicc.openmpi; do
    ! command -v "$compiler" >/dev/null || compilers="$compilers $compiler"
done
for compiler in ${compilers:-"${MPICC:-mpicc}"}; do
    look "$compiler" >include/config.h
    compile "$compiler"
    check $? "$compiler: as in mpi.h"
    sed 's/^/# /' errors
    differs "$compiler" Probe blocking_table.h \
        's/BLOCKING(Probe, (int from, int tag,/BLOCKING(Probe, (int from,/'
    differs "$compiler" Allgatherv blocking_table.h \
        '/ALLGATHERV(Allgatherv##suffix/s/place_t/offset_arg/'
    differs "$compiler" Win_fence blocking_table.h \
        's/WHOLE(Win_fence, (int assert/WHOLE(Win_fence, (aint_arg assert/'
    differs "$compiler" File_close blocking_table.h \
        's/WHOLE(File_close, (file_at \*file)/WHOLE(File_close, (file_arg file)/'
    differs "$compiler" Allreduce prototypes.h \
        's/ALLREDUCE(Allreduce, int,/ALLREDUCE(Allreduce, count_arg,/'
    differs "$compiler" Startall prototypes.h \
        's/request_at \*requests)/request_arg requests)/'
done
finish
