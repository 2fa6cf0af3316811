# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by t-conformance.sh and sweep.sh: runs random programs without the library and
# with it, and compares the hashes of the data that their ranks received.
#
#     . "$top_srcdir/tests/conformance/compare.sh"
#     batch 3 101 160
#     finish
#
# After a failure the script prints the seed and a command that repeats it; to find the
# first difference of two runs, compare their output with CONFORMANCE_TRACE=1, rank by
# rank.
# shellcheck shell=sh
. "$top_srcdir/tests/mpi/run.sh"

conformance=$top_builddir/tests/conformance/conformance
apsmpi=$top_builddir/apsmpi
seconds=${APS_TEST_TIMEOUT:-300}
# Seconds after which a program counts as hung.
CONFORMANCE_TIMEOUT=${CONFORMANCE_TIMEOUT:-60}
export CONFORMANCE_TIMEOUT
unset CONFORMANCE_TRACE CONFORMANCE_EVENTS

# policy NAME: writes a policy that matches every sum, with rules from standard input.
policy()
{
    {
        echo 'version: 1'
        echo 'min_count: 1'
        cat
    } >"$tmp/$1.yaml"
}

# Exact, so that results must not differ: every call and type that a rule can name, and
# nonblocking calls progressed by the program's own calls, or by threads.
exact()
{
    policy "$1" <<END
$2
operations: probe
rules:
  - {types: [float, bf16, fp16, double], format: e8m23}
  - {types: [float, bf16, fp16, double], format: e8m23,
     calls: [reduce_scatter, allgather, reduce, bcast]}
END
}
exact calls 'progress: calls'
exact thread 'progress: thread'

# Not exact at all.
policy coarse <<END
rules: [{format: e3m0}]
END

# program HOW RANKS FIRST LAST: leaves $tmp/HOW.out and $tmp/HOW.err; HOW is
# native, watched (no policy), or the name of a policy.
program()
{
    how=$1 ranks=$2 first=$3 last=$4
    case $how in
    native) set -- ;;
    watched) set -- -genv LD_PRELOAD "$library" ;;
    *) set -- -genv LD_PRELOAD "$library" \
        -genv APSMPI_POLICY "$tmp/$how.yaml" ;;
    esac
    # shellcheck disable=SC2086 # two words
    timeout -k 5 "$seconds" $launch "$@" -n "$ranks" "$conformance" \
        "$first" "$last" </dev/null >"$tmp/$how.out" 2>"$tmp/$how.err"
    status=$?
}

# repeat HOW RANKS SEED: prints the command that runs one program by hand.
repeat()
{
    case $1 in
    native) repeat_options= ;;
    watched) repeat_options="-genv LD_PRELOAD $library " ;;
    *)
        repeat_options="-genv LD_PRELOAD $library -genv APSMPI_POLICY $1.yaml "
        echo "# $1.yaml:"
        sed 's/^/#     /' "$tmp/$1.yaml"
        ;;
    esac
    echo "# MPI=$MPI MPIEXEC=$MPIEXEC CONFORMANCE_TRACE=1 $launch" \
        "${repeat_options}-n $2 $conformance $3"
} >&2

# ended HOW RANKS FIRST LAST: one test: the programs ended well. Otherwise the
# seed is the one after the last that was printed.
ended()
{
    [ "$status" -eq 0 ] && [ "$(wc -l <"$tmp/$1.out")" -eq $(($4 - $3 + 1)) ]
    ended=$?
    check "$ended" "$2 ranks, seeds $3 to $4, $1: come to a good end"
    [ "$ended" -ne 0 ] || return 0
    seed=$(($3 + $(wc -l <"$tmp/$1.out")))
    case $status in
    3) echo "# seed $seed hangs; what its ranks do:" ;;
    124 | 137) echo "# seed $seed: the batch took more than $seconds s" ;;
    *) echo "# seed $seed: status $status" ;;
    esac >&2
    { grep '^# seed' "$tmp/$1.err" || tail -n 20 "$tmp/$1.err"; } |
        sed 's/^[# ]*/#   /' | head -n 40 >&2
    repeat "$1" "$2" "$seed"
    return 1
}

# same HOW RANKS FIRST LAST: one test: the hashes equal those of native runs.
same()
{
    cmp -s "$tmp/native.out" "$tmp/$1.out"
    differs=$?
    check "$differs" "... $1: receive what they receive without the library"
    [ "$differs" -ne 0 ] || return 0
    # By seed, of the programs that both runs have finished.
    awk 'NR == FNR { hash[$2] = $6; next }
         $2 in hash && hash[$2] != $6 { print $2 }' \
        "$tmp/native.out" "$tmp/$1.out" >"$tmp/seeds"
    [ -s "$tmp/seeds" ] || return 0
    echo "# $1, $2 ranks: other hashes for seeds: $(tr '\n' ' ' <"$tmp/seeds")" >&2
    repeat "$1" "$2" "$(head -n 1 "$tmp/seeds")"
}

# batch RANKS FIRST LAST: runs the programs in all the ways.
batch()
{
    program native "$@"
    ended native "$@" || return 0
    for way in watched calls thread; do
        program "$way" "$@"
        ended "$way" "$@"
        same "$way" "$@"
    done
}
