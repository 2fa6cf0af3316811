# SPDX-License-Identifier: BSD-3-Clause
# A rank that waits inside a rewritten call still serves its earlier messages.
# Of nine calls under reduce: auto, the first four try native.
. "$top_srcdir/tests/mpi/run.sh"

while read -r ranks nodes reduce rewritten; do
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
rules: [{format: e5m2, reduce: $reduce}]
END
    run "$ranks ranks, nodes $nodes, $reduce" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/progress" "$rewritten"
done <<END
2 1 direct 9
2 1 hierarchical 9
2 1 auto 5
3 1 ring 9
3 1 master 9
3 1 gather 9
4 1 direct 9
4 1 hierarchical 9
4 2 hierarchical 9
END
finish
