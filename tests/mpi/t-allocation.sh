# SPDX-License-Identifier: BSD-3-Clause
# Steps allocate nothing, and nothing is lost over time.
. "$top_srcdir/tests/mpi/run.sh"
unsanitized 'the program and valgrind replace malloc, as the sanitizers do'

# policy REDUCE EVERY SCALE: every EVERYth step is sampled, 0: none
policy()
{
    {
        printf 'version: 1\nmin_count: 1\n'
        [ "$2" -eq 0 ] || printf 'log: {file: "%s", every: %s}\n' \
            "$tmp/log.csv" "$2"
        printf 'rules: [{format: e4m3, reduce: %s, scale: %s}]\n' "$1" "$3"
    } >"$tmp/policy.yaml"
    rm -f "$tmp/log.csv"
}

while read -r ranks nodes reduce every scale; do
    policy "$reduce" "$every" "$scale"
    run "$ranks ranks, nodes $nodes, $reduce, sampled every $every, $scale" \
        "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/allocation"
done <<END
2 1 direct 0 aps
2 1 direct 1 aps
2 1 direct 0 {backoff: {window: 1}}
2 1 hierarchical 0 aps
2 1 hierarchical 1 aps
4 2 hierarchical 0 aps
4 2 hierarchical 1 aps
4 2 hierarchical 0 {backoff: {window: 1}}
END

# Two rules with different groups alternate.
cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
steps: {calls: 10}
rules:
  - {layers: [1, 3, 5, 7, 9], reduce: hierarchical, group: 2, compress: {topk: 0.1}}
  - {reduce: hierarchical, group: node, compress: {topk: 0.1}}
END
run "two kinds of groups" 4 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$mpi/allocation"

for reduce in direct hierarchical; do
    policy "$reduce" 0 aps
    run "100000 calls, $reduce" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/allocation" 100000
done

# Valgrind's messages about the library; MPI itself has many.
#
# records FILE...: each record of valgrind with a frame of the library, which shows a
# path of the source tree or, without debugging information, the library's. MPI may keep
# memory that it allocates once when it begins, and for a key.
records()
{
    sed 's/^==[0-9]*== *//' "$@" |
        awk '/^$/ { print record; record = "" }
             { record = record " | " $0 }
             END { print record }' |
        grep -E '/libapsmpi|/pmpi/[a-z]+\.c|/src/[a-z]+/[a-z]+\.[ch]:' |
        grep -v -E 'definitely lost.* PMPI_(Init|Init_thread|Comm_create_keyval) ' |
        grep -E 'Invalid|uninitialised|overlap|indirectly|definitely'
}

if ! command -v valgrind >/dev/null; then
    skip "valgrind" "valgrind is not installed"
    finish
fi
# valgrind_says NAME PROGRAM [ARG...]: checks a job with the policy $tmp/policy.yaml
valgrind_says()
{
    said_of=$1 program=$2
    shift 2
    rm -f "$tmp"/valgrind.*
    run "valgrind, $said_of" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        valgrind --leak-check=full --fullpath-after= \
        --log-file="$tmp/valgrind.%p" "$mpi/$program" "$@"
    [ "$(cat "$tmp"/valgrind.* | grep -c 'LEAK SUMMARY\|no leaks are')" -eq 2 ]
    check $? "valgrind, $said_of: it came to its end on both ranks"
    records "$tmp"/valgrind.* >"$tmp/records"
    [ ! -s "$tmp/records" ]
    check $? "valgrind, $said_of: no leak, no bad access in libapsmpi.so"
    sed 's/^/# /' "$tmp/records" >&2
}

for reduce in direct hierarchical; do
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
steps: {calls: 2}
log: {file: "$tmp/log.csv"}
rules: [{layers: 0, format: e3m0, scale: none, reduce: $reduce}]
END
    valgrind_says "$reduce" communicators
done

# States of layers, on communicators that are freed; calls that fuse.
cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
steps: {calls: 8}
fuse: 64KiB
rules: [{format: e5m2, reduce: direct, scale: {backoff: {window: 2}}}]
END
valgrind_says 'states' history_calls

# The state of compressors, with another compressor in another epoch.
cat >"$tmp/layers.csv" <<END
layer,name,count,shape
0,one,1221,33x37
1,two,1221,33x37
2,three,1221,33x37
3,four,1221,33x37
END
cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
table: layers.csv
steps: {per_epoch: 2}
rules:
  - {epochs: 0, layers: 0, format: e3m0, scale: aps, feedback: on}
  - {epochs: 0, layers: 1, compress: {powersgd: {rank: 2, min_ratio: 1}}}
  - {epochs: 0, layers: 2, reduce: direct, compress: {mstopk: 0.05}}
  - {epochs: 0, compress: ternary, feedback: on}
  - {layers: 0, format: bfp3/576, feedback: on}
  - {layers: 1, compress: {powersgd: {rank: 3, min_ratio: 1}}}
  - {layers: 2, compress: {threshold: {value: 0.9, density: 0.5}}}
  - {reduce: gather, compress: {ternary: 1}, feedback: off}
END
valgrind_says 'compressors' telescope bits 4 5
finish
