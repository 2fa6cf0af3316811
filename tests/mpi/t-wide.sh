# SPDX-License-Identifier: BSD-3-Clause
# Sums of doubles in formats wider than FP32.
. "$top_srcdir/tests/mpi/run.sh"

# policy FORMAT SETTINGS KEY: all five collectives, and a key for the top
policy()
{
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
$3
rules:
  - {types: double, format: $1, $2}
  - {types: double, format: $1, calls: [reduce, reduce_scatter, allgather, bcast]}
END
}

# sums RANKS NODES X M SETTINGS KEY ARGUMENT...
sums()
{
    ranks=$1 nodes=$2 x=$3 m=$4
    policy "e${x}m$m" "$5" "$6"
    name="e${x}m$m, $5, $ranks ranks, nodes $nodes"
    shift 6
    run "$name" "$ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/wide" "$x" "$m" "$@"
    says 'rewritten (100\.0 %' 5 'all calls of five collectives were rewritten'
}

# In rank order: direct, gather, and the hierarchy and the master of one group.
sums 3 1 11 52 'reduce: direct' '' order
sums 2 1 8 24 'reduce: direct' '' order
sums 4 1 9 22 'reduce: direct' '' order
sums 3 1 10 30 'reduce: gather' '' order gather
sums 4 1 11 52 'reduce: gather' '' order gather
sums 3 1 11 52 'reduce: hierarchical' '' order
sums 4 1 8 31 'reduce: hierarchical' '' order
sums 2 1 11 20 'reduce: hierarchical' 'fuse: 1MiB' order
sums 3 1 11 44 'reduce: master' '' order
sums 2 1 11 28 'reduce: direct' 'threads: 3' order
sums 2 1 9 40 'reduce: hierarchical' 'threads: 3' order
sums 3 3 11 36 'reduce: hierarchical' '' order

# In another order: sums that are exact.
sums 4 2 11 52 'reduce: hierarchical' '' any
sums 4 2 8 24 'reduce: hierarchical' 'fuse: 1MiB' any
sums 4 2 11 52 'reduce: {hierarchical: {group: 2}}' '' any
sums 4 1 11 52 'reduce: ring' '' any
sums 3 1 9 22 'reduce: ring' '' any
sums 3 1 10 30 'reduce: ring' 'fuse: 1MiB' any
sums 4 2 11 52 'reduce: {master: {group: 2}}' '' any
sums 4 2 10 30 'reduce: {master: {group: 2}}' '' any
sums 4 1 11 12 'reduce: {master: {group: 1}}' '' any
sums 2 1 9 22 'reduce: direct' "log: {file: $tmp/log.csv, every: 1}" order
grep -q ',MPI_COMM_WORLD,.*,e9m22,none,direct,' "$tmp/log.csv"
check $? 'the log has the format'

# MPI may be faster: the sums are those of FP64.
policy e11m52 'reduce: auto'
run 'the fastest reduction' 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$mpi/wide" 11 52 any
finish
