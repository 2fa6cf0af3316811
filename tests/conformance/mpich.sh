#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPICH's own collective tests, without the library and with it: each program runs
# natively, and with policies that rewrite every call exactly (e8m23). The tests sum
# mostly integers; a second build takes MPI_INT for MPI_FLOAT, whose sums of small
# integers are exact, too. Prints each difference, and ends with status 1 if a program
# passes natively and not with the library.
#
#     make check-mpich MPICH_SOURCE=/path/to/mpich-4.0.2
#
# MPICH_SOURCE is the source of a release, or a checkout; only its test/mpi is read.
# MPICH_RANKS (4): lines of the test list with more ranks are left out.
set -eu

: "${MPICH_SOURCE:?is not set: the source of MPICH}"
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
. "$top_srcdir/tests/tap/mpi.sh"
yield_when_idle
suite=$(cd "$MPICH_SOURCE/test/mpi" && pwd)
library=$top_builddir/.libs/libapsmpi.so
most=${MPICH_RANKS:-4}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/apsmpi-mpich.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# The suite's configure script would find these, and many more that C11 has.
cat >"$tmp/mpitestconf.h" <<'END'
#define HAVE_STDARG_H 1
#define HAVE_STRING_H 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_LONG_LONG 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
END
: >"$tmp/mtest_mpix.h"
for progress in calls thread; do
    cat >"$tmp/$progress.yaml" <<END
version: 1
min_count: 1
progress: $progress
rules:
  - {types: [float, bf16, fp16, double], format: e8m23}
  - {types: [float, bf16, fp16, double], format: e8m23,
     calls: [reduce_scatter, allgather, reduce, bcast]}
END
done

# passes RANKS ARGUMENT PROGRAM [OPTION...]: the program finds no error
passes()
{
    ranks=$1 argument=$2 program=$3
    shift 3
    # shellcheck disable=SC2086 # two words, and an argument or none
    timeout -k 5 60 $launch "$@" -n "$ranks" "$program" $argument </dev/null \
        >"$tmp/out" 2>&1 && grep -q 'No Errors' "$tmp/out"
}

# preloaded PROGRESS: a line of the list that has passed natively
preloaded()
{
    ! passes "$np" "$argument" "$tmp/$type/$name" \
        -genv LD_PRELOAD "$library" -genv APSMPI_SUMMARY off \
        -genv APSMPI_POLICY "$tmp/$1.yaml" || return 0
    worse=$((worse + 1))
    echo "$type: $name, $np ranks, $argument progress: $1: fails with the library"
    sed -n '1,5s/^/# /p' "$tmp/out"
}

worse=0
for type in int float; do
    mkdir "$tmp/$type"
    [ "$type" = int ] && define= || define=-DMPI_INT=MPI_FLOAT
    lines=0 native=0 left=0
    for file in mtest mtest_common mtest_thread; do
        "$MPICC" -w ${define:+"$define"} -I"$tmp" -I"$suite/include" -c \
            "$suite/util/$file.c" -o "$tmp/$type/$file.o"
    done
    while read -r name np rest; do
        case $name in '' | '#'*) continue ;; esac
        argument=$(printf '%s\n' "$rest" | tr ' ' '\n' | sed -n 's/^arg=//p' |
            tr '\n' ' ')
        if [ "$np" -gt "$most" ] || ! { [ -x "$tmp/$type/$name" ] ||
            "$MPICC" -w ${define:+"$define"} -I"$tmp" -I"$suite/include" \
                "$suite/coll/$name.c" "$tmp/$type"/mtest*.o \
                -o "$tmp/$type/$name" -lm -lpthread 2>/dev/null; }; then
            left=$((left + 1))
            continue
        fi
        lines=$((lines + 1))
        passes "$np" "$argument" "$tmp/$type/$name" || continue
        native=$((native + 1))
        preloaded calls
        preloaded thread
    done <"$suite/coll/testlist.in"
    echo "$type: $lines lines of the test list, $native pass natively;" \
        "$left left out (over $most ranks, or not compiled)"
done
echo "$worse failures with the library of programs that pass natively"
[ "$worse" -eq 0 ]
