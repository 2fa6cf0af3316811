#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the bench of nonblocking all-reduces on two hosts of scripts/apsmpi-lab,
# under native MPI and under policies of the library.
#
#   nonblocking.sh step      ResNet-50's 161 tensors: lazy fusion; 1 ms of delay
#   nonblocking.sh overlap   one call of 8 Mi floats under a computation
#   nonblocking.sh all       both
#
# The variants alternate, JOBS times each (5), so that all see the same drift of the
# machine. Options after these are the program's own (nonblocking --help). Prints
# medians over all rounds of all jobs. Columns of the overlap:
#
#   both/most  the time of both, over that of the longer of call and computation
#   work       the core's work for the call, outside the computation
#   links      what the kernel did for the network during the computation: the lab's
#              links run on the ranks' own cores
#   one core   (computation + work + links) / most: a rank has one core here
#
# Leaves policies and samples in tests/bench/ of the build directory. By hand, run
#
#   top_srcdir=. top_builddir=build sh tests/bench/nonblocking.sh all
#
# ONLY='overlap-native overlap-thread' leaves the others out; RATE (1gbit) is the rate
# of the links.
set -eu

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
MPIEXEC=${MPIEXEC:-mpiexec.mpich}
APSMPI_LAB_DIR=$top_builddir/scripts
export MPIEXEC APSMPI_LAB_DIR
JOBS=${JOBS:-5}
ONLY=${ONLY-}
bench=$top_builddir/tests/bench/nonblocking
library=$top_builddir/.libs/libapsmpi.so
lab=$top_srcdir/scripts/apsmpi-lab
rate=${RATE:-1gbit}
result=0

# policy NAME RULE LINE...: writes the policy of a variant
policy()
{
    file=$bench-$1.yaml
    rule=$2
    shift 2
    {
        printf 'version: 1\nmin_count: 1\n'
        [ $# -eq 0 ] || printf '%s\n' "$@"
        printf 'rules: [{%s}]\n' "$rule"
    } >"$file"
    "$top_builddir/apsmpi" check "$file" >/dev/null
}

# job NAME OPTION...: adds its lines to the variant's samples; without a policy
# of that name the library is not preloaded
job()
{
    samples=$bench-$1.txt
    policy=$bench-$1.yaml
    shift
    set -- "$bench" "$@"
    [ ! -f "$policy" ] || set -- -genv LD_PRELOAD "$library" \
        -genv APSMPI_POLICY "$policy" -genv APSMPI_SUMMARY off \
        -genv APSMPI_DISCOVERY off "$@"
    timeout -k 5 300 "$lab" --hosts 2 --rate $rate --delay "${delay:-none}" \
        -- "$@" </dev/null >>"$samples" || {
        echo "nonblocking.sh: $samples: status $?" >&2
        result=1
    }
}

# median NAME COLUMN: of the variant's samples
median()
{
    sort -n -k "$2,$2" "$bench-$1.txt" | awk -v column="$2" '
        { x[NR] = $column }
        END {
            if (NR)
                printf "%.1f", (x[int((NR + 1) / 2)] + x[int((NR + 2) / 2)]) / 2
        }'
}

# least NAME COLUMN
least()
{
    sort -n -k "$2,$2" "$bench-$1.txt" | awk -v column="$2" \
        'NR == 1 { printf "%.1f", $column }'
}

# ratio A B: A / B, or - if one is missing
ratio()
{
    awk -v a="$1" -v b="$2" \
        'BEGIN { if (a > 0 && b > 0) printf "%.2f", a / b; else printf "-" }'
}

# one_core COMPUTATION WORK LINKS MOST; prints nothing if one is missing
one_core()
{
    awk -v computation="$1" -v work="$2" -v links="$3" -v most="$4" 'BEGIN {
        if (most > 0)
            printf "%.2f", (computation + work + links) / most
    }'
}

# goal RATIO at-least|at-most LIMIT
goal()
{
    awk -v ratio="$1" -v which="$2" -v limit="$3" 'BEGIN {
        if (ratio == "-") { print "not measured"; exit }
        good = which == "at-least" ? ratio >= limit : ratio <= limit
        sub("-", " ", which)
        printf "%sx, goal %s %s: %s\n", ratio, which, limit,
            good ? "reached" : "missed" }'
}

# choose NAME...: empties their samples, and sets $names to those that ONLY names
choose()
{
    names=
    for name; do
        : >"$bench-$name.txt"
        case " ${ONLY:-$name} " in
        *" $name "*) names="$names $name" ;;
        esac
    done
}

step()
{
    eight='format: e5m2, scale: aps, reduce: direct'
    sixteen='format: e5m10, scale: aps, reduce: direct'
    rm -f "$bench"-step-*.yaml
    policy step-e5m2-blocking "$eight"
    policy step-e5m2-unfused "$eight"
    policy step-e5m2-fused "$eight" 'fuse: 4MiB'
    policy step-e5m10-fused "$sixteen" 'fuse: 4MiB'
    choose step-native step-e5m2-blocking step-e5m2-unfused step-e5m2-fused \
        step-e5m10-fused
    for _ in $(seq "$JOBS"); do
        for name in $names; do
            case $name in
            *-blocking) job "$name" step --blocking "$@" ;;
            *) job "$name" step "$@" ;;
            esac
        done
    done
    printf '\n=== A training step: 2 hosts, %s%s\n' "$rate" "${delay:+, $delay}"
    native=$(median step-native 2)
    printf '  %-20s %10s %10s %8s %10s\n' \
        variant 'median ms' 'min ms' rounds speed-up
    for name in $names; do
        middle=$(median "$name" 2)
        printf '  %-20s %10s %10s %8s %10s\n' "${name#step-}" "$middle" \
            "$(least "$name" 2)" "$(wc -l <"$bench-$name.txt")" \
            "$(ratio "$native" "$middle")"
    done
    fused=$(median step-e5m2-fused 2)
    printf 'fused 8 bits over unfused 8 bits: '
    goal "$(ratio "$(median step-e5m2-unfused 2)" "$fused")" at-least 1.33
    printf 'fused 8 bits over fused 16 bits: '
    goal "$(ratio "$(median step-e5m10-fused 2)" "$fused")" at-least 1.33
}

# The work depends on the values, and the time that hides it on the bytes: with 16 bits
# it is twice as long. With aps every value is read twice, for the exponent on which all
# ranks first agree and for the encoder; with aps-tight once.
overlap()
{
    rm -f "$bench"-overlap-*.yaml
    eight='format: e4m3, reduce: direct, scale'
    sixteen='format: e5m10, reduce: direct, scale'
    policy overlap-calls "$eight: aps"
    policy overlap-thread "$eight: aps" 'progress: thread'
    policy overlap-thread-tight "$eight: aps-tight" 'progress: thread'
    policy overlap-thread-e5m10 "$sixteen: aps" 'progress: thread'
    policy overlap-thread-tight-e5m10 "$sixteen: aps-tight" 'progress: thread'
    choose overlap-native overlap-calls overlap-thread overlap-thread-tight \
        overlap-thread-e5m10 overlap-thread-tight-e5m10
    for _ in $(seq "$JOBS"); do
        for name in $names; do
            job "$name" overlap "$@"
        done
    done
    printf '\n=== One call under a computation: 2 hosts, %s\n' "$rate"
    printf '  %-18s %8s %14s %8s %7s %10s %8s %9s %9s\n' variant 'call ms' \
        'computation ms' 'both ms' rounds 'both/most' 'work ms' 'links ms' \
        'one core'
    goals=
    for name in $names; do
        call=$(median "$name" 2) computation=$(median "$name" 3)
        both=$(median "$name" 4)
        most=$(printf '%s\n' "$call" "$computation" | sort -n | tail -n 1)
        share=$(ratio "$both" "$most")
        work=$(median "$name" 5) links=$(median "$name" 6)
        printf '  %-18s %8s %14s %8s %7s %10s %8s %9s %9s\n' \
            "${name#overlap-}" "$call" "$computation" "$both" \
            "$(wc -l <"$bench-$name.txt")" "$share" "$work" "$links" \
            "$(one_core "$computation" "$work" "$links" "$most")"
        case $name in
        *-thread*) goals="$goals${name#overlap-} over the longer of the two: $(goal \
            "$share" at-most 1.25)
" ;;
        esac
    done
    printf %s "$goals"
}

what=${1:-help}
[ $# -eq 0 ] || shift
case $what in
step | overlap | all) ;;
*)
    sed -n '/^#!/d; /^# SPDX/d; s/^# \{0,1\}//p; /^set/q' "$0" >&2
    exit 2
    ;;
esac
status=0
"$lab" --hosts 2 -- sleep 0.2 || status=$?
if [ $status -eq 77 ]; then
    echo "nonblocking.sh: skipped: there can be no lab here"
    exit 0
fi
delay=1ms
# The kernel has no netem, and the lab no switch of its own.
"$lab" --hosts 2 --delay "$delay" -- sleep 0.2 || delay=
[ "$what" = overlap ] || step "$@"
delay=
[ "$what" = step ] || overlap "$@"
exit $result
