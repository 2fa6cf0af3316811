# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by t-random.sh and sweep.sh: runs random programs under random policies
# (random.c), each with a time-out.
#
#     . "$top_srcdir/tests/random/seeds.sh"
#     seeds 1 100 5
#     finish_seeds
#
# After a failure the script prints the seed, its policy and a command that repeats it.
# shellcheck shell=sh
. "$top_srcdir/tests/mpi/run.sh"

random=$top_builddir/tests/random/random
# Seconds without an event after which a program counts as hung. On a machine that does
# something else as well, a program takes many times as long as alone.
RANDOM_TIMEOUT=${APS_TEST_TIMEOUT:-60}
export RANDOM_TIMEOUT
unset RANDOM_TRACE RANDOM_PACE
seconds=$((RANDOM_TIMEOUT * 6))
cd "$tmp" || exit 99
: >lines

limit_memory 32000000

# program SEED RANKS: leaves its line in $line, and $status
program()
{
    # shellcheck disable=SC2086 # two words
    timeout -k 5 "$seconds" $launch -genv LD_PRELOAD "$library" -n "$2" \
        "$random" "$1" </dev/null >stdout 2>stderr
    status=$?
    line=$(cat stdout)
    [ "$status" -ne 0 ] || case $line in
    "seed $1 ranks $2 "*) ;;
    *) status=1 ;; # the library wrote there
    esac
}

# failed SEED RANKS WHY
failed()
{
    bad="$bad $1"
    {
        echo "# seed $1, $2 ranks: $3; its policy:"
        "$random" policy "$1" "$2" | sed 's/^/#     /'
        echo "# RANDOM_TRACE=1 mpiexec -genv LD_PRELOAD $library -n $2 $random $1"
        sed 's/^[# ]*/#   /' stderr | head -n 25
    } >&2
}

# seed SEED RANKS: results that do not depend on measurements are the same if
# ranks complete their calls in other ways and at other times.
seed()
{
    program "$1" "$2"
    case $status in
    0) ;;
    3) failed "$1" "$2" 'hangs' ;;
    124 | 137) failed "$1" "$2" "took more than $seconds s" ;;
    *) failed "$1" "$2" "status $status" ;;
    esac
    [ "$status" -eq 0 ] || return 0
    rewritten=$(sed -n 's/^apsmpi: .* \([0-9]*\) rewritten .*/\1/p' stderr |
        awk '{ n += $1 } END { print n + 0 }')
    echo "$line rewritten $rewritten" >>lines
    case $line in
    *' fixed'*) ;;
    *) return 0 ;;
    esac
    [ $(($1 % 4)) -eq 1 ] || return 0
    unpaced=$line
    RANDOM_PACE=1
    export RANDOM_PACE
    program "$1" "$2"
    unset RANDOM_PACE
    [ "$status" -eq 0 ] && [ "$line" = "$unpaced" ] ||
        failed "$1" "$2" "RANDOM_PACE=1 gives another result: status $status"
}

# seeds FIRST LAST RANKS: runs each seed on 2 to RANKS ranks; a test for ten seeds.
seeds()
{
    next=$1
    while [ "$next" -le "$2" ]; do
        last=$((next + 9))
        [ "$last" -le "$2" ] || last=$2
        bad=
        for number in $(seq "$next" "$last"); do
            seed "$number" $((2 + number % ($3 - 1)))
        done
        [ -z "$bad" ]
        check $? "seeds $next to $last${bad:+, but$bad}"
        next=$((last + 1))
    done
}

finish_seeds()
{
    awk '{ seeds++; communicators += $6; calls += $8; rewritten += $NF }
        END { print "# " seeds " seeds: " communicators " communicators, " \
                  calls " calls, " rewritten " all-reduces rewritten"
              exit !rewritten }' lines >&2
    check $? 'the programs have rewritten calls'
    finish
}
