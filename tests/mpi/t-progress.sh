# SPDX-License-Identifier: BSD-3-Clause
# A rank that waits inside a rewritten call still serves its earlier messages.
. "$top_srcdir/tests/mpi/run.sh"

while read -r ranks nodes reduce; do
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
rules: [{format: e5m2, reduce: $reduce}]
END
    run "$ranks ranks, nodes $nodes, $reduce" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/progress"
done <<END
2 1 direct
2 1 hierarchical
2 1 auto
3 1 ring
3 1 master
3 1 gather
4 1 direct
4 1 hierarchical
4 2 hierarchical
END
finish
