# SPDX-License-Identifier: BSD-3-Clause
# Stochastic and correlated rounding in reductions.
. "$top_srcdir/tests/mpi/run.sh"

"$mpi/drawn" policy >"$tmp/policy.yaml"
while read -r ranks nodes cpu; do
    run "$ranks ranks, nodes $nodes${cpu:+, }$cpu" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" -genv APSMPI_CPU "$cpu" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/drawn"
done <<END
2 1
4 1
4 2 plain
5 1
END

# The bits do not depend on the calls that are reduced together, nor on earlier buffers:
# with 3 owners a slice of whole blocks of 512 is longer than one of 64.
while read -r ranks nodes format; do
    progress=calls
    can_be_driven || progress=thread
    cat >"$tmp/alike.yaml" <<END
version: 1
min_count: 1
progress: $progress
fuse: 1MiB
rules: [{format: $format, reduce: hierarchical}]
END
    for mode in alone together later; do
        run "$ranks ranks, nodes $nodes, $format" "$ranks" \
            -genv APSMPI_POLICY "$tmp/alike.yaml" \
            -genv APSMPI_TEST_NODES "$nodes" "$mpi/drawn_alike" $mode
        grep '^# bits' "$tmp/stdout" >"$tmp/bits-$mode"
    done
    for mode in together later; do
        cmp "$tmp/bits-alone" "$tmp/bits-$mode"
        check $? "$ranks ranks, nodes $nodes, $format: the same bits $mode"
    done
done <<END
3 1 qsgd7/512
5 1 qsgd7/512
4 2 qsgd7/512
3 1 bfp7/1024, rounding: stochastic
3 1 e4m3
END
finish
