#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Groups of ranks, on topologies that hwloc gets from HWLOC_SYNTHETIC: rank i of
# the node runs on core i. Calls that cannot be grouped pass through.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

packages='package:2 l3:2 core:2 pu:1'
numas='package:2 [numa] core:4 pu:1'

# group FILE KIND [MORE]
group()
{
    policy "$1" -t 'log: {file: unused.csv, every: 1}' \
        "format: e4m3, scale: aps, group: $2${3:+, $3}"
}
for kind in node package numa l3 1 2 3 16; do
    group $kind.yaml $kind
done

# wire OWNERS GROUPS: prints the bytes that rank 0 sends for 4096 values in one
# byte each, with 4 bytes of header a block: to the other owners of its group,
# across the groups and back, and once into its group
wire()
{
    awk -v owners="$1" -v groups="$2" 'BEGIN {
        slice = 4096 / owners; part = slice / groups
        inside = owners > 1 ? owners * (slice + 4) : 0
        across = groups > 1 ? 2 * (groups - 1) * (part + 4) : 0
        print inside + across }'
}

# agreed CONDITION: in each row the time of the agreement meets the condition, and is a
# part of the whole
agreed()
{
    [ -n "$(column step log.csv)" ] && [ -z "$(column step log.csv \
        '!('"$1"' && v["agree_usec"] + 0 <= v["usec"] + 0)')" ]
}

# grouped NAME RANKS KIND OWNERS GROUPS [VARIABLE=VALUE]...
grouped()
{
    name=$1 ranks=$2 kind=$3 groups=$5 bytes=$(wire "$4" "$5")
    shift 5
    rm -f log.csv
    job $ranks APSMPI_POLICY=$kind.yaml APSMPI_LOG=log.csv "$@" "$probe" sums 2
    check "$name" lines 1 out '2 sums right'
    check '... rewritten' rewritten 2
    check '... by groups' equal "$(distinct reduce log.csv)" hierarchical
    check "... so many, as it says first" grep -q \
        "$kind.yaml rewrites its first call, .* in $groups groups\{0,1\} of " err
    check "... with $bytes bytes sent" equal "$(distinct wire_bytes log.csv)" \
        "$bytes"
    check '... after an agreement, which took some of the time' \
        agreed 'v["agree_usec"] > 0'
}

grouped 'eight ranks in 2 packages' 8 package 4 2 HWLOC_SYNTHETIC="$packages"
grouped 'eight ranks under 4 L3 caches' 8 l3 2 4 HWLOC_SYNTHETIC="$packages"
grouped 'four ranks in 2 NUMA nodes' 4 numa 4 1 HWLOC_SYNTHETIC="$numas"
grouped 'eight ranks in 2 NUMA nodes' 8 numa 4 2 HWLOC_SYNTHETIC="$numas"
grouped 'eight ranks in one node' 8 node 8 1 HWLOC_SYNTHETIC="$packages"
grouped 'four ranks in pairs' 4 2 2 2
grouped 'four ranks, each by itself' 4 1 1 4
grouped 'four ranks in one group of up to 16' 4 16 4 1

grouped '2 pretended nodes' 4 node 2 2 APSMPI_TEST_NODES=2
grouped '... in turn' 4 node 2 2 APSMPI_TEST_NODES=2:cyclic
check '... and two nodes, as it says first' has err ': 4 ranks on 2 nodes, '
grouped '4 pretended nodes' 4 node 1 4 APSMPI_TEST_NODES=4
grouped 'packages of pretended nodes' 8 package 2 4 APSMPI_TEST_NODES=2 \
    HWLOC_SYNTHETIC='package:2 core:2 pu:1'

policy none.yaml -t 'log: {file: unused.csv, every: 1}' 'format: e4m3, scale: none'
rm -f log.csv
job 4 APSMPI_POLICY=none.yaml APSMPI_LOG=log.csv "$probe" sums 2
check 'without a scale there is no agreement' agreed 'v["agree_usec"] == 0'

# Groups of different sizes: replicas must still be equal.
for arguments in '4 3 2' '3 2 2' '8 3 3' '7 2 3'; do
    set -- $arguments
    group number.yaml "$2"
    job "$1" APSMPI_POLICY=number.yaml $digits --epochs 1
    check "$1 ranks in groups of $2" trained
    check '... rewritten' rewritten 66
    job "$1" APSMPI_POLICY=node.yaml APSMPI_TEST_NODES="$3" $digits --epochs 1
    check "$1 ranks on $3 pretended nodes" trained
    check '... rewritten' rewritten 66
done
group exact.yaml package 'node: fp32'
job 4 APSMPI_POLICY=exact.yaml HWLOC_SYNTHETIC='package:2 core:2 pu:1' \
    $digits --epochs 1
check 'node: fp32 in two packages' trained
check '... rewritten' rewritten 66

# --- groups that cannot be made -----------------------------------------------

native 2 $digits --epochs 1
cp out native

# impossible NAME KIND CAUSE COMMAND...: the calls pass through, with one message
impossible()
{
    name=$1 kind=$2 cause=$3
    shift 3
    job 2 APSMPI_POLICY=$kind.yaml APSMPI_LOG=none.csv "$@" $digits --epochs 1
    check "$name: the calls pass through" rewritten 0
    check '... with the native result' cmp native out
    check '... and the cause, once' lines 1 err "$cause"
    check '... in the log, too' lines 1 none.csv "$cause"
    check '... and nothing else' equal "$(wc -l <err)" 2
    rm -f none.csv
}

impossible 'a topology without L3 caches' l3 'hwloc finds no l3 on this node' \
    HWLOC_SYNTHETIC='package:2 core:4 pu:1'
impossible 'a topology without packages' package 'hwloc finds no package on this node' \
    HWLOC_SYNTHETIC='core:4 pu:1'
impossible 'ranks that are not bound' package \
    'this rank is not bound inside one package: bind the ranks' \
    HWLOC_SYNTHETIC='package:2 core:1 pu:1' HWLOC_THISSYSTEM=1
impossible 'a host without hwloc' package \
    'this host lacks libhwloc.so.15: install hwloc 2 or use group: node' \
    LD_PRELOAD="$sanitizer$library:$top_builddir/tests/e2e/.libs/no_hwloc.so"
impossible 'a topology that only rank 1 lacks' l3 'hwloc finds no l3 on this node' \
    HWLOC_SYNTHETIC="$packages" sh -c \
    "[ $launched_as != 1 ] || export HWLOC_SYNTHETIC='core:4 pu:1'
    exec \"\$@\"" sh

# Some layers can be grouped, others not.
layer_table >layers.csv
policy half.yaml -t 'layers: layers.csv' \
    -t 'log: {file: half.csv, every: 1}' \
    'layers: fc1.*, format: e4m3, group: l3' 'format: e4m3, group: node'
job 2 APSMPI_POLICY=half.yaml HWLOC_SYNTHETIC='package:2 core:2 pu:1' \
    $digits --epochs 1
check 'a rule that cannot run leaves the others alone' rewritten 44
check '... and trains' trained
check '... its layers are not in the log' equal \
    "$(distinct layer half.csv)" '2 3 4 5'

# --- ranks bound to cores -----------------------------------------------------

cpus=$(nproc)
if [ "$cpus" -lt 2 ] || ! command -v taskset >/dev/null; then
    skip 'bound ranks' 'needs two processors and taskset'
else
    first=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
    job 2 APSMPI_POLICY=package.yaml APSMPI_LOG=bound.csv \
        HWLOC_SYNTHETIC="package:$((first + cpus)) core:1 pu:1" \
        HWLOC_THISSYSTEM=1 FIRST="$first" \
        sh -c "exec taskset -c \$((FIRST + $launched_as)) \"\$@\"" sh "$probe" sums 2
    if grep -q 'taskset:' err; then
        skip 'bound ranks' "$(grep -m 1 taskset: err)"
    else
        check 'ranks bound to two packages' lines 1 out '2 sums right'
        check '... rewritten' rewritten 2
        check '... as two groups' equal "$(distinct wire_bytes bound.csv)" \
            "$(wire 1 2)"
    fi
fi

finish
