#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The cost of candidates (shadow): jobs with them and jobs without the library
# alternate, so that both see the same drift of the machine.
#
#   shadow.sh [OPTION...]
#
# In each of PAIRS (15) pairs a job of tests/apps/digits measures CANDIDATES (four) on
# sampled steps, within the default budget of 5 % of the time, and another job runs
# without the library; RANKS (2) ranks on this node, EPOCHS (400) epochs. The order
# within a pair alternates. Prints the seconds of each, the share of the time in the
# library's summary, the quotient of both times, and the median, the least and the
# greatest of the quotients. The outputs of a pair must be the same; the command ends
# with status 2 if they are not, if a job fails or if no candidate was measured. The
# options are the program's own (digits --help). Leaves tests/bench/shadow-* of the last
# pair in the build directory. By hand, run
#
#   PAIRS=5 top_srcdir=. top_builddir=build sh tests/bench/shadow.sh
set -eu

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
. "$top_srcdir/tests/tap/mpi.sh"
PAIRS=${PAIRS:-15}
RANKS=${RANKS:-2}
EPOCHS=${EPOCHS:-400}
CANDIDATES=${CANDIDATES:-e5m2 e4m3:aps e3m0:aps e5m10}
library=$top_builddir/.libs/libapsmpi.so
digits=$top_builddir/tests/apps/digits
shadow=$top_builddir/tests/bench/shadow

case $PAIRS in
'' | *[!0-9]* | 0)
    echo "shadow.sh: PAIRS='$PAIRS' is not a whole number above 0" >&2
    exit 2
    ;;
esac

fail()
{
    echo "shadow.sh: $*" >&2
    exit 2
}

# seconds BEGIN END: the difference of two times in nanoseconds
seconds()
{
    awk -v begin="$1" -v end="$2" 'BEGIN { printf "%.3f", (end - begin) / 1e9 }'
}

# job with|plain OPTION...: leaves its output in $shadow-<which>.txt and .err,
# and its time in $taken
job()
{
    which=$1
    shift
    set -- "$digits" --data "$top_srcdir/tests/apps/digits.csv" \
        --epochs "$EPOCHS" "$@"
    [ "$which" = plain ] || set -- -genv LD_PRELOAD "$library" \
        -genv APSMPI_SHADOW "$CANDIDATES" -genv APSMPI_LOG "$shadow.csv" "$@"
    rm -f "$shadow.csv" "$shadow-exponents.csv"
    begin=$(date +%s%N)
    # shellcheck disable=SC2086 # two words
    timeout -k 5 300 $launch -n "$RANKS" "$@" </dev/null \
        >"$shadow-$which.txt" 2>"$shadow-$which.err" || {
        status=$?
        cat "$shadow-$which.err" >&2
        fail "a job ($which) ended with status $status"
    }
    taken=$(seconds "$begin" "$(date +%s%N)")
}

echo "digits, $RANKS ranks, $EPOCHS epochs; candidates: $CANDIDATES"
echo "share: of the rest of the time, as the summary says"
printf '  %4s %9s %9s %7s %11s\n' pair 'with s' 'plain s' share with/plain
: >"$shadow-pairs.txt"
for pair in $(seq "$PAIRS"); do
    first=with second=plain
    [ $((pair % 2)) -eq 1 ] || first=plain second=with
    for which in $first $second; do
        job "$which" "$@"
        case $which in
        with) with=$taken ;;
        plain) plain=$taken ;;
        esac
    done
    cmp "$shadow-with.txt" "$shadow-plain.txt" >&2 ||
        fail "pair $pair: the outputs with and without candidates differ"
    share=$(sed -n \
        's/.*shadow: candidates were measured on .* (\(.* %\) of the rest .*/\1/p' \
        "$shadow-with.err")
    [ "$share" ] || fail "pair $pair: no candidate was measured"
    awk -v pair="$pair" -v a="$with" -v b="$plain" -v share="$share" 'BEGIN {
        printf "  %4d %9.3f %9.3f %7s %11.3f\n", pair, a, b, share, a / b }' |
        tee -a "$shadow-pairs.txt"
done
sort -n -k 6,6 "$shadow-pairs.txt" | awk '
    { x[NR] = $6 }
    END { printf "%d pairs: with/plain: median %.3f, least %.3f, greatest %.3f\n",
        NR, (x[int((NR + 1) / 2)] + x[int((NR + 2) / 2)]) / 2, x[1], x[NR] }'
