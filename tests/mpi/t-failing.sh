# SPDX-License-Identifier: BSD-3-Clause
# A message, a test of requests, a receipt or an allocation fails on one rank: the
# others get an error, too, or the sum. Of a message a line names rank, call and cause.
. "$top_srcdir/tests/mpi/run.sh"

library=$mpi/.libs/inject.so:$library

# policy KIND RULE
policy()
{
    progress=calls
    can_be_driven || progress=thread
    case $2 in
    *ternary* | *vote*) said=$2 ;; # their integers have no format
    *) said="format: e5m10, $2" ;;
    esac
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
progress: $progress
rules: [{$said}]
END
    case $1,$2 in
    fused,*'feedback: on'*) echo 'steps: {calls: 3}' ;;
    *'feedback: on'*) echo 'steps: {calls: 1}' ;;
    esac >>"$tmp/policy.yaml"
    case $1 in
    fused) echo 'fuse: 1MiB' ;;
    sampled) echo "log: {file: $tmp/log.csv, every: 1}" ;;
    layered) echo "table: $tmp/layers.csv" ;;
    esac >>"$tmp/policy.yaml"
}

printf 'layer,name,count\n0,a,3000\n1,b,4000\n2,c,2000\n' >"$tmp/layers.csv"
while read -r ranks nodes kind when length often rule; do
    policy "$kind" "$rule"
    name="$ranks ranks, nodes $nodes, $kind, $when, $length, $often times, $rule"
    run "$name" "$ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" \
        "$mpi/failing" "$kind" "$when" "$length" "$often" \
        PMPI_Isend PMPI_Irecv
    grep -q 'rank [0-9]*: MPI_Isend to rank [0-9]* failed .*: .' "$tmp/stderr"
    check $? "$name: a line names rank, call and cause"
done <<END
2 1 blocking later 3000 1 reduce: direct, scale: aps
3 1 nonblocking later 3000 2 reduce: direct, scale: none
3 1 blocking later 3000 1 reduce: ring, scale: aps
2 1 blocking later 3000 2 reduce: ring, scale: none, accumulate: format
3 1 blocking later 3000 1 reduce: gather, scale: aps, accumulate: format
4 1 blocking later 3000 1 reduce: master, group: 2, scale: aps
4 2 blocking later 3000 1 reduce: hierarchical, scale: aps
3 2 nonblocking later 3000 2 reduce: hierarchical, scale: aps-tight
2 1 blocking first 3000 1 reduce: direct, scale: aps
3 2 blocking first 3000 2 reduce: hierarchical, scale: aps
2 1 nonblocking first 3000 1 reduce: direct, scale: aps
3 1 reduce later 3000 1 calls: [reduce], scale: aps
3 1 reduce_scatter later 9000 1 calls: [reduce_scatter], scale: aps-tight
3 1 allgather later 9000 2 calls: [allgather], scale: aps
3 1 bcast later 9000 2 calls: [bcast], scale: aps
4 1 bcast later 200000 1 calls: [bcast], scale: none
2 1 blocking later 200000 1 reduce: direct, scale: aps-tight
3 1 blocking later 3000 5 reduce: direct, scale: aps
4 2 blocking later 3000 5 reduce: hierarchical, scale: aps
3 1 blocking later 3000 5 reduce: ring, scale: none
3 1 blocking first 3000 5 reduce: direct, scale: aps
3 1 fused later 3000 5 reduce: direct, scale: aps
3 1 sampled later 9000 5 reduce: direct, scale: none
3 1 blocking later 3000 1 reduce: direct, scale: {backoff: {window: 1}}
3 1 nonblocking later 3000 2 reduce: ring, scale: {backoff: {window: 1}}
4 2 blocking later 3000 5 reduce: hierarchical, scale: {backoff: {window: 1}}
2 1 blocking later 5000001 1 compress: {topk: 1}, feedback: off
3 1 blocking later 9000 1 reduce: direct, compress: {topk: 1}, feedback: off
2 1 fused later 9000 2 reduce: direct, compress: {topk: 1}, feedback: off
4 2 blocking later 9000 1 reduce: hierarchical, compress: {topk: 1}, feedback: off
2 1 blocking later 8600001 1 reduce: direct, compress: {topk: 1}, feedback: off
3 1 blocking later 3000 1 reduce: direct, scale: aps, feedback: on
2 1 fused later 3000 2 reduce: direct, scale: aps-tight, feedback: on
END

while read -r ranks nodes function kind when often rule; do
    policy "$kind" "$rule"
    name="$ranks ranks, nodes $nodes, $kind, $when, $often times, $rule"
    run "$name" "$ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" \
        "$mpi/failing" "$kind" "$when" 9000 "$often" "$function"
done <<END
2 1 PMPI_Testall blocking first 1 reduce: direct, scale: aps
3 2 PMPI_Testall nonblocking first 3 reduce: hierarchical, scale: aps
3 1 PMPI_Testall blocking later 5 reduce: ring, scale: aps
3 1 PMPI_Testall fused later 1 reduce: direct, scale: aps
3 1 receipt blocking later 1 reduce: direct, scale: aps
3 1 receipt nonblocking later 1 reduce: ring, scale: aps
4 2 receipt blocking later 1 reduce: hierarchical, scale: aps
2 1 receipt layered later 9 reduce: direct, scale: none
2 1 receipt fused later 1 reduce: direct, scale: aps
3 1 receipt fused later 3 reduce: direct, scale: aps-tight
3 1 receipt blocking first 1 reduce: direct, scale: aps
3 1 receipt nonblocking first 1 reduce: ring, scale: aps
3 1 receipt reduce later 1 calls: [reduce], scale: aps
3 1 receipt reduce_scatter later 1 calls: [reduce_scatter], scale: aps
3 1 receipt allgather later 1 calls: [allgather], scale: aps
3 1 receipt bcast later 1 calls: [bcast], scale: aps
3 1 receipt allgather later 2 calls: [allgather], scale: none
2 1 PMPI_Isend blocking later 2000 reduce: direct, scale: aps
3 2 PMPI_Irecv nonblocking later 2000 reduce: hierarchical, scale: aps
2 1 allocation blocking first 1 reduce: direct, scale: aps
3 1 allocation blocking first 3 reduce: ring, scale: none
4 1 allocation blocking first 1 reduce: master, group: 2, scale: aps
4 2 allocation nonblocking first 1 reduce: hierarchical, scale: aps
3 1 allocation nonblocking first 3 reduce: gather, scale: aps
2 1 allocation fused later 1 reduce: direct, scale: aps
3 1 allocation sampled first 1 reduce: direct, scale: none
3 1 allocation blocking first 1 reduce: direct, scale: {backoff: {window: 1}}
2 1 allocation fused first 5 reduce: direct, scale: underflow
3 1 receipt blocking later 1 reduce: direct, scale: {backoff: {window: 1}}
3 1 receipt blocking later 1 reduce: direct, scale: {backoff: {min: 2^16, max: 2^16}}
3 1 receipt nonblocking later 1 reduce: ring, scale: {backoff: {min: 2^16, max: 2^16}}
4 2 receipt blocking later 1 reduce: hierarchical, scale: {backoff: {min: 2^16, max: 2^16}}
3 1 receipt blocking later 3 reduce: gather, scale: {backoff: {min: 2^16, max: 2^16}}
3 1 receipt blocking later 1 reduce: direct, scale: {underflow: {every: 2}}
4 2 receipt nonblocking later 1 reduce: hierarchical, scale: {logmax: {max: 2^10}}
4 2 receipt blocking later 1 reduce: hierarchical, node: fp32, scale: {underflow: {every: 3}}
3 1 receipt blocking later 1 reduce: gather, accumulate: format, scale: {underflow: {every: 2}}
3 1 PMPI_Isend blocking later 5 reduce: direct, scale: {unit: {steps: 1000}}
3 1 allocation reduce first 1 calls: [reduce], scale: aps
3 1 allocation reduce_scatter first 1 calls: [reduce_scatter], scale: aps-tight
3 1 allocation allgather first 1 calls: [allgather], scale: aps
3 1 allocation bcast first 1 calls: [bcast], scale: aps
3 1 allocation typed later 1 calls: [allgather], scale: aps
3 1 receipt nonfinite later 1 compress: {topk: 1}, feedback: off
3 1 PMPI_Isend nonfinite later 1 compress: {topk: 1}, feedback: off
3 1 receipt nonfinite later 1 reduce: ring, compress: {powersgd: {warm: off}}, feedback: off
3 1 PMPI_Irecv nonfinite later 2 reduce: ring, compress: {powersgd: {warm: off}}, feedback: off
3 1 receipt nonfinite later 1 compress: {threshold: {value: 0.5, density: 1}}, feedback: off
3 1 receipt blocking later 1 compress: {threshold: {value: 0.5, density: 1}}, feedback: off
3 1 PMPI_Isend fused later 1 compress: {threshold: {value: 0.5, density: 1}}, feedback: off
3 1 receipt nonfinite later 1 reduce: direct, compress: {topk: 1}, feedback: off
4 2 receipt nonfinite later 1 reduce: hierarchical, compress: {topk: 1}, feedback: off
4 2 receipt blocking later 1 reduce: hierarchical, compress: {topk: 1}, feedback: off
4 2 allocation blocking first 1 reduce: hierarchical, compress: {topk: 1}, feedback: off
3 1 receipt nonfinite later 1 reduce: direct, compress: {chunks: {density: 1, size: 100}}, feedback: off
3 1 PMPI_Isend blocking later 1 reduce: ring, compress: {chunks: {density: 1, size: 100}}, feedback: off
3 1 receipt blocking later 1 reduce: direct, compress: {threshold: {value: 0.5, density: 1}}, feedback: off
3 1 allocation blocking first 1 reduce: direct, compress: {topk: 1}, feedback: off
3 1 receipt nonfinite later 1 compress: vote, feedback: off
3 1 receipt nonfinite later 1 reduce: gather, compress: vote, feedback: off
3 1 receipt nonfinite later 1 compress: ternary, feedback: off
3 1 receipt nonfinite later 1 reduce: gather, compress: ternary, feedback: off
4 2 receipt nonfinite later 1 reduce: hierarchical, compress: ternary, feedback: off
4 2 PMPI_Isend nonfinite later 1 reduce: hierarchical, compress: ternary, feedback: off
3 1 allocation blocking first 1 compress: {topk: 1}, feedback: off
3 1 receipt blocking later 1 reduce: direct, scale: aps, feedback: on
3 1 receipt nonfinite later 1 reduce: direct, scale: aps, feedback: on
3 1 PMPI_Isend nonfinite later 1 reduce: direct, scale: aps-tight, feedback: on
3 1 allocation blocking first 1 reduce: direct, scale: aps, feedback: on
END
finish
