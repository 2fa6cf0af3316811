#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the bench of short-lived communicators under three policies; the
# arguments are the program's own. By hand, run
#
#   top_srcdir=. top_builddir=build sh tests/bench/short_lived.sh
#
# RANKS (2) is the number of ranks.
set -eu

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
. "$top_srcdir/tests/tap/mpi.sh"
library=${APS_TEST_LIBRARY:-$top_builddir/.libs/libapsmpi.so}
bench=$top_builddir/tests/bench/short_lived

# measure NAME PROGRESS REDUCE OPTION...
measure()
{
    printf 'version: 1\nprogress: %s\nrules: [{format: e5m2, reduce: %s}]\n' \
        "$2" "$3" >"$bench.yaml"
    printf '%-36s' "$1"
    shift 3
    # shellcheck disable=SC2086 # two words
    timeout -k 5 120 $launch -genv LD_PRELOAD "$library" \
        -genv APSMPI_POLICY "$bench.yaml" -genv APSMPI_SUMMARY off \
        -n "${RANKS:-2}" "$bench" "$@" </dev/null
}

measure 'direct' calls direct "$@"
measure 'hierarchical' calls hierarchical "$@"
measure 'progress: thread, blocking' thread hierarchical "$@"
measure 'progress: thread, nonblocking' thread hierarchical --nonblocking "$@"
