#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares two builds of the library by the all-reduce bench: jobs with the old one and
# with the new one alternate, so that both see the same drift of the machine.
#
#   OLD=/path/to/old/libapsmpi.so paired.sh [OPTION...]
#
# Without OLD the new one is compared with itself, which shows the machine's noise. In
# each of ROUNDS (5) rounds, each of RULES (lines; aps and aps-tight) is a pair of jobs,
# with RANKS (2) ranks on this node. If HOSTS is set, the jobs run on HOSTS hosts of
# scripts/apsmpi-lab with RANKS (1) ranks each; the links have the RATE (1gbit) and, if
# it is set, the DELAY. Prints, for each format and size, the medians of both and the
# median, the least and the greatest of the rounds' quotients of new over old. A second
# median quotient compares the times relative to native FP32's in the same job, which a
# slow phase of the machine changes less. A row is worse if both medians are more than
# LIMIT (3) percent above 1; that ends the command with status 1. The rows of native
# FP32 do not count: neither library rewrites these calls, and they show the effect of
# the machine alone. The options are the bench's own (--help). Leaves CSV
# files in tests/bench/ of the build directory. By hand, run
#
#   OLD=old/libapsmpi.so top_srcdir=. top_builddir=build sh tests/bench/paired.sh
set -eu

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
. "$top_srcdir/tests/tap/mpi.sh"
PYTHON3=${PYTHON3:-python3}
ROUNDS=${ROUNDS:-5}
HOSTS=${HOSTS:-}
LIMIT=${LIMIT:-3}
[ -n "${RULES:-}" ] || RULES='scale: aps-tight
scale: aps'
NEW=${NEW:-$top_builddir/.libs/libapsmpi.so}
OLD=${OLD:-$NEW}
bench=$top_builddir/pmpi/bench/apsmpi-bench
paired=$top_builddir/tests/bench/paired

if [ "$HOSTS" ]; then
    APSMPI_LAB_DIR=$top_builddir/scripts
    export APSMPI_LAB_DIR
    start="$top_srcdir/scripts/apsmpi-lab --hosts $HOSTS
        --ranks-per-host ${RANKS:-1} --rate ${RATE:-1gbit}
        ${DELAY:+--delay $DELAY} --"
else
    start="$launch -n ${RANKS:-2}"
fi
for library in "$OLD" "$NEW"; do
    [ -f "$library" ] || {
        echo "paired.sh: '$library' is not a library; OLD=/path/to/libapsmpi.so" \
            "names the one to compare with" >&2
        exit 2
    }
done

# The defaults come first: the program takes the last of an option.
set -- --sizes 64Ki,1Mi,4Mi,25.6Mi --formats e4m3,e5m10 --rows floor \
    --seconds 1 --cold 8 "$@"

# job WHICH LIBRARY ROUND NUMBER RULE OPTION...: one CSV file
job()
{
    to=$paired-$4
    csv=$to-$3-$1.csv library=$2 rule=$5
    shift 5
    # shellcheck disable=SC2086 # words
    timeout -k 5 300 $start -genv LD_PRELOAD "$library" \
        -genv APSMPI_SUMMARY off \
        "$bench" "$@" --rule "$rule" --csv "$csv" </dev/null >"$to.txt" 2>&1 || {
        echo "paired.sh: $library, $rule: status $?" >&2
        cat "$to.txt" >&2
        exit 2
    }
}

rm -f "$paired"-*.csv "$paired"-*.txt
rounds=$(seq "$ROUNDS")
for round in $rounds; do
    number=0
    while read -r rule; do
        number=$((number + 1))
        first=old second=new
        [ $((round % 2)) -eq 1 ] || first=new second=old
        for which in $first $second; do
            library=$NEW
            [ "$which" = new ] || library=$OLD
            job "$which" "$library" "$round" $number "$rule" "$@"
        done
    done <<RULES
$RULES
RULES
done

result=0
number=0
while read -r rule; do
    number=$((number + 1))
    printf '\n=== %s\n' "$rule"
    "$PYTHON3" "$top_srcdir/tests/bench/paired.py" --limit "$LIMIT" \
        "$paired-$number" "$ROUNDS" || result=1
done <<RULES
$RULES
RULES
exit $result
