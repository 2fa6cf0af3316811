#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The sums of a training step of ResNet-50 (161 tensors, 25.6 million floats)
# under compressors and formats, each compared with native FP32 in the same
# process: on two hosts of scripts/apsmpi-lab, one rank each, and on one node.
#
#   compress.sh 1gbit|10gbit|node|all [OPTION...]
#
# `blocking` is a call of MPI_Allreduce for each tensor, `nonblocking`
# MPI_Iallreduce for each and one wait, `fused` the same with all layers in one
# batch. JOBS (1) jobs of each alternate. Prints, over all rounds, the median
# and the minimum of the milliseconds of a step, and native FP32's median over
# the variant's. `error` is the relative L2 difference of a step's sums from
# native ones; it is near 1 or more if feedback sends values in later steps.
# Options are the program's own (step --help). Leaves policies, samples, CSV and
# picture in tests/bench/ of the build directory. By hand, run
#
#   top_srcdir=. top_builddir=build sh tests/bench/compress.sh 1gbit
#
# ONLY='powersgd-4 mstopk' leaves the other variants out, MODES=fused blocking
# calls. HOSTS (2) is the number of hosts of the lab.
set -eu

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
. "$top_srcdir/tests/tap/mpi.sh"
PYTHON3=${PYTHON3:-python3}
APSMPI_LAB_DIR=$top_builddir/scripts
export APSMPI_LAB_DIR
JOBS=${JOBS:-1}
HOSTS=${HOSTS:-2}
ONLY=${ONLY-}
MODES=${MODES:-blocking nonblocking fused}
step=$top_builddir/tests/bench/step
bench=$top_builddir/tests/bench/compress
library=$top_builddir/.libs/libapsmpi.so
lab=$top_srcdir/scripts/apsmpi-lab
table=$top_srcdir/config/layers/resnet50-layers.csv
result=0

# The variants: a name, the goal at 1 Gbit/s or -, and a rule.
variants()
{
    cat <<'RULES'
e8m23 - format: e8m23
e4m3 - format: e4m3, scale: aps
e4m3-feedback - format: e4m3, scale: aps, feedback: on, reduce: direct
powersgd-4 8 feedback: on, compress: {powersgd: {rank: 4}}
powersgd-1 9 feedback: on, compress: {powersgd: {rank: 1}}
mstopk 8 feedback: on, compress: {mstopk: 0.01}
mstopk-direct - feedback: on, compress: {mstopk: 0.01}, reduce: direct
mstopk+powersgd - feedback: on, compress: {mstopk+powersgd: {rank: 4, density: 0.01}}
ternary 5 feedback: on, compress: ternary, reduce: direct
RULES
}

# chosen NAME: true if ONLY is empty or names it
chosen()
{
    case " ${ONLY:-$1} " in *" $1 "*) ;; *) return 1 ;; esac
}

# file NETWORK NAME MODE: its samples, without the suffix
file()
{
    echo "$bench-$1-$3-$(echo "$2" | tr / -)"
}

# job NETWORK NAME MODE RULE [OPTION...]
job()
{
    network=$1 name=$2 mode=$3 rule=$4
    to=$(file "$1" "$2" "$3")
    shift 4
    [ "$mode" = blocking ] || set -- --nonblocking "$@"
    {
        printf 'version: 1\nmin_count: 1\ntable: %s\n' "$table"
        printf 'steps: {order: backward}\n'
        [ "$mode" != fused ] || printf 'fuse: 1GiB\n'
        printf 'rules: [{%s}]\n' "$rule"
    } >"$to.yaml"
    "$top_builddir/apsmpi" check "$to.yaml" >/dev/null
    case $network in
    node) launcher="$launch -n 2" ;;
    *) launcher="$lab --hosts $HOSTS --rate $network --delay none --" ;;
    esac
    # shellcheck disable=SC2086
    timeout -k 5 300 $launcher -genv LD_PRELOAD "$library" \
        -genv APSMPI_POLICY "$to.yaml" -genv APSMPI_SUMMARY off \
        -genv APSMPI_DISCOVERY off "$step" "$@" </dev/null >>"$to.txt" || {
        echo "compress.sh: $network, $name, $mode: status $?" >&2
        result=1
    }
}

# median FILE COLUMN, least FILE COLUMN: over its steps
median()
{
    grep '^step ' "$1" | sort -n -k "$2,$2" | awk -v column="$2" '
        { x[NR] = $column }
        END {
            if (NR)
                printf "%.1f", (x[int((NR + 1) / 2)] + x[int((NR + 2) / 2)]) / 2
        }'
}

least()
{
    grep '^step ' "$1" | sort -n -k "$2,$2" |
        awk -v column="$2" 'NR == 1 { printf "%.1f", $column }'
}

# row NETWORK NAME MODE GOAL: prints a row, and a line of the CSV file
row()
{
    samples=$(file "$1" "$2" "$3").txt
    grep -q '^step ' "$samples" || return 0
    native=$(median "$samples" 2) middle=$(median "$samples" 3)
    up=$(awk -v n="$native" -v m="$middle" 'BEGIN { printf "%.2f", n / m }')
    goal=
    [ "$1" != 1gbit ] || [ "$4" = - ] || goal="at least $4"
    [ "$1" != 10gbit ] || goal='at least 1'
    printf '  %-16s %-11s %10s %10s %10s %9s %9s  %s\n' "$2" "$3" "$native" \
        "$middle" "$(least "$samples" 3)" "$up" \
        "$(awk '$1 == "error" { e = $2 } END { print e }' "$samples")" "$goal"
    echo "$1,$2,$3,$native,$middle,$up" >>"$bench.csv"
}

on_network()
{
    network=$1
    shift
    rm -f "$bench-$network-"*.txt
    for _ in $(seq "$JOBS"); do
        for mode in $MODES; do
            variants | while read -r name _ rule; do
                ! chosen "$name" ||
                    job "$network" "$name" "$mode" "$rule" "$@"
                [ $result -eq 0 ] || : >"$bench-failed"
            done
        done
    done
    case $network in
    node) printf '\n=== One node, 2 ranks\n' ;;
    *) printf '\n=== %s hosts, one rank each, %s\n' "$HOSTS" "$network" ;;
    esac
    printf '  %-16s %-11s %10s %10s %10s %9s %9s  %s\n' variant calls \
        'native ms' 'median ms' 'min ms' speed-up error goal
    for mode in $MODES; do
        variants | while read -r name goal _; do
            ! chosen "$name" || row "$network" "$name" "$mode" "$goal"
        done
    done
}

what=${1:-help}
[ $# -eq 0 ] || shift
case $what in
all) networks='1gbit 10gbit node' ;;
1gbit | 10gbit | node) networks=$what ;;
*)
    sed -n '/^#!/d; /^# SPDX/d; s/^# \{0,1\}//p; /^set/q' "$0" >&2
    exit 2
    ;;
esac
# The processor, or the kernel's name for it.
machine()
{
    model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null |
        head -n 1)
    echo "${model:-$(uname -m)}, $(getconf _NPROCESSORS_ONLN) cores"
}

status=0
"$lab" --hosts "$HOSTS" -- sleep 0.2 || status=$?
rm -f "$bench-failed"
echo network,variant,calls,native_ms,median_ms,speed_up >"$bench.csv"
echo "$(machine); ${JOBS} jobs of each"
for network in $networks; do
    if [ $status -eq 77 ] && [ "$network" != node ]; then
        echo "compress.sh: $network skipped: there can be no lab here"
    else
        on_network "$network" "$@"
    fi
done
"$PYTHON3" "$top_srcdir/tests/bench/compress_steps.py" "$bench.csv" \
    "$(machine)" >"$bench.svg"
[ ! -e "$bench-failed" ] || result=1
rm -f "$bench-failed"
exit $result
