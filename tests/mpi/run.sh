# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by the stubs t-*.sh: runs MPI programs that speak TAP with the library
# preloaded, and merges their output into one numbered stream.
#
#   . "$top_srcdir/tests/mpi/run.sh"
#   cat >"$tmp/policy.yaml" <<END ...
#   run "4 ranks" 4 -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/exact"
#   finish
#
# $tmp is a directory of the script's own, gone at its end; $mpi is where the
# programs were built.

. "$top_srcdir/tests/tap/mpi.sh"
. "$top_srcdir/tests/tap/logs.sh"
yield_when_idle
tmp=$(mktemp -d "${TMPDIR:-/tmp}/apsmpi-test.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM
mpi=$top_builddir/tests/mpi
# Another library than the one that was built: APS_TEST_LIBRARY.
library=${APS_TEST_LIBRARY:-$top_builddir/.libs/libapsmpi.so}
seconds=${APS_TEST_TIMEOUT:-120}
count=0
failures=0
besides=0

# No APSMPI variable of the caller's environment takes part.
for name in $(env | sed -n 's/^\(APSMPI_[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done
APSMPI_DISCOVERY=off
export APSMPI_DISCOVERY

# check STATUS TEXT: one test, passed when STATUS is 0.
check()
{
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        failures=$((failures + 1))
    fi
}

# beside COMMAND ARG...: runs the command, which runs jobs and checks their
# output, in the background; for jobs that sleep most of the time. The command
# has its own $tmp, and `met` prints its tests.
beside()
{
    besides=$((besides + 1))
    mkdir -p "$tmp/beside$besides" || exit 99
    (
        tmp=$tmp/beside$besides count=0 failures=0
        "$@"
        echo "came to the end"
    ) >"$tmp/beside$besides.out" 2>"$tmp/beside$besides.err" &
}

# met: waits for background commands, and prints their tests in order.
met()
{
    wait
    met=0
    while [ "$met" -lt "$besides" ]; do
        met=$((met + 1))
        cat "$tmp/beside$met.err" >&2
        while read -r line; do
            case $line in
            'ok '*) check 0 "${line#*- }" ;;
            'not ok '*) check 1 "${line#*- }" ;;
            *) continue ;;
            esac
        done <"$tmp/beside$met.out"
        [ "$(tail -n 1 "$tmp/beside$met.out")" = "came to the end" ] ||
            check 1 "background commands end"
    done
    besides=0
}

# skip TEXT REASON
skip()
{
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# unsanitized REASON: skips all tests in a build with sanitizers.
unsanitized()
{
    [ "${SANITIZERS:-no}" = no ] || { echo "1..0 # SKIP $1"; exit 0; }
}

# limit_memory KIB: for an error that takes memory without end. The sanitizers reserve
# terabytes of addresses.
limit_memory()
{
    [ "${SANITIZERS:-no}" != no ] || ulimit -v "$1" 2>/dev/null || :
}

# finish: the plan, after all tests.
finish()
{
    met
    left=$(logs_left "$tmp")
    if [ -n "$left" ]; then
        logs_read "$left" >&2
        check $? 'pandas reads every log'
    fi
    echo "1..$count"
    [ "$failures" -eq 0 ]
    exit
}

# Prints the last lines of a run's standard error.
show_errors()
{
    tail -n 25 "$tmp/stderr" | sed 's/^/#   /' >&2
}

# run_mpiexec NAME ARG...: mpiexec with the library preloaded everywhere and its
# arguments unchanged; standard error is left in $tmp/stderr.
run_mpiexec()
{
    prefix=$1
    shift
    # shellcheck disable=SC2086 # two words
    timeout "$seconds" $launch -genv LD_PRELOAD "$library" "$@" \
        </dev/null >"$tmp/stdout" 2>"$tmp/stderr"
    status=$?
    grep '^#' "$tmp/stderr" >&2
    sed -n "s/^ok [0-9]* - /ok - $(quote "$prefix"): /p
            s/^not ok [0-9]* - /not ok - $(quote "$prefix"): /p" \
        "$tmp/stdout" >"$tmp/results"
    while read -r line; do
        count=$((count + 1))
        case $line in
        ok*) echo "ok $count${line#ok}" ;;
        *) echo "not ok $count${line#not ok}" ;;
        esac
    done <"$tmp/results"
    bad=$(grep -c '^not ok' "$tmp/results")
    failures=$((failures + bad))
    planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$tmp/stdout")
    ran=$(grep -c '' "$tmp/results")
    end=0
    if [ "$status" -eq 124 ]; then
        echo "# $prefix: hung for $seconds s after $ran tests" >&2
        end=1
    elif [ -z "$planned" ] || [ "$planned" -ne "$ran" ]; then
        echo "# $prefix: status $status, planned '$planned' ran $ran" >&2
        end=1
    elif [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
        echo "# $prefix: status $status after $ran good tests" >&2
        end=1
    fi
    [ "$end" -eq 0 ] || show_errors
    check "$end" "$prefix: comes to a good end"
    check_rewritten "$prefix"
}

# Checks that the library's summary has the numbers that the program expects.
check_rewritten()
{
    expected=$(sed -n 's/^# expect \([0-9]*\) rewritten$/\1/p' "$tmp/stdout")
    [ -n "$expected" ] || return 0
    rewritten=$(sed -n 's/^apsmpi: .* \([0-9]*\) rewritten .*/\1/p
                        s/^apsmpi: .* none rewritten.*/0/p' "$tmp/stderr")
    [ "$rewritten" = "$expected" ]
    check $? "$1: $expected calls were rewritten"
    [ "$rewritten" = "$expected" ] ||
        echo "# rewritten: '$rewritten', expected: '$expected'" >&2
}

# True if this MPI lets the program's calls progress nonblocking reductions.
# Otherwise they pass through, or need a policy with `progress: thread`.
can_be_driven()
{
    grep -q '^#define HAVE_PMPIX_GREQUEST_START' "$top_builddir/config.h"
}

# Quotes for sed's replacement.
quote()
{
    printf '%s' "$1" | sed 's/[&/\\]/\\&/g'
}

# run NAME RANKS ARG...
run()
{
    run_name=$1
    run_ranks=$2
    shift 2
    run_mpiexec "$run_name" -n "$run_ranks" "$@"
}

# says PATTERN TIMES TEXT: the last run printed TIMES lines that match.
says()
{
    said=$(grep -c -e "$1" "$tmp/stderr")
    [ "$said" -eq "$2" ]
    check $? "$3"
    [ "$said" -eq "$2" ] || {
        echo "# said $said times, not $2: $1" >&2
        show_errors
    }
}
